"""Matrix products of float32 by torch's own choice of kernel and by `nn.linear`: billions of operations a second.

OMP_NUM_THREADS=1 python benchmarks/products.py
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import torch
from torch import Tensor
from torch.nn import functional as F

from parlink.nn.linear import HAS_ONEDNN, linear

SHAPES = (  # rows, inputs, outputs
    (64, 384, 1152),
    (2048, 384, 1152),
    (2048, 384, 1536),
    (2048, 1536, 384),
    (2048, 768, 3072),
    (512, 768, 50_265),
)


def main() -> None:
    print(f"kernels of oneDNN are {'' if HAS_ONEDNN else 'not '}used on this CPU ({torch.__version__})\n")
    print("| rows x inputs x outputs | torch | parlink | times as fast |\n|---|---:|---:|---:|")
    with torch.inference_mode():
        for rows, inputs, outputs in SHAPES:
            states, weight, bias = torch.randn(rows, inputs), torch.randn(outputs, inputs), torch.randn(outputs)
            work = 2e-9 * rows * inputs * outputs
            theirs, ours = (work / least_seconds(kernel, states, weight, bias) for kernel in (F.linear, linear))
            print(f"| {rows} x {inputs} x {outputs} | {theirs:.0f} | {ours:.0f} | {ours / theirs:.2f} |")


def least_seconds(kernel: Callable[..., Tensor], *tensors: Tensor, repeats: int = 10) -> float:
    """The least CPU time of several runs, which others on the machine hardly change."""
    seconds = []
    for _ in range(repeats):
        begin = process_time()
        kernel(*tensors)
        seconds.append(process_time() - begin)
    return min(seconds)


if __name__ == "__main__":
    main()
