"""Try the 8-bit kernel of this machine: is it right, and is it faster? Run in a process of its own, as it may crash.

    python -m parlink.nn.int8_probe

prints how many bits of a token it can take, or 0 if it is of no use.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import get_args

import torch
from torch import Tensor
from torch.nn import functional as F

from parlink.nn.int8 import Int8Linear, TokenBits
from parlink.nn.linear import linear

TOKENS, INPUTS, OUTPUTS = 256, 384, 768
REPEATS = 20


def probe() -> int:
    """Return the most bits of a token that the kernel gets right; 0: none, or it is no faster than float32."""
    states, weight = _draw(TOKENS, INPUTS), _draw(OUTPUTS, INPUTS)
    for bits in sorted(get_args(TokenBits), reverse=True):
        if _is_right(bits, states, weight):
            int8 = partial(Int8Linear(weight, None, token_bits=bits), states)
            return bits if _seconds(int8) < _seconds(partial(linear, states, weight)) else 0
    return 0


def _is_right(bits: TokenBits, states: Tensor, weight: Tensor) -> bool:
    """Whether random numbers come out near, and the largest there are, with any sign, without an overflow."""
    largest = torch.ones(8, INPUTS) * torch.tensor([1.0, -1.0]).repeat(4)[:, None]
    for tokens, matrix in ((states, weight), (largest, largest.repeat(8, 1))):
        wanted, got = F.linear(tokens, matrix), Int8Linear(matrix, None, token_bits=bits)(tokens)
        if not (got - wanted).abs().max() < 0.05 * wanted.abs().max():
            return False
    return True


def _draw(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def _seconds(work: Callable[[], object]) -> float:
    """The least CPU time of several runs, which others on the machine do not change."""
    times = []
    for _ in range(REPEATS):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


if __name__ == "__main__":
    torch.set_num_threads(1)
    with torch.inference_mode():
        print(probe())
