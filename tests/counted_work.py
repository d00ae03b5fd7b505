"""Count what a computation asks of torch, whatever the machine: matrix work, new memory, moves between devices."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

# What copies numbers from one device to another, or waits for one, where there is more than the CPU.
_MOVES = {"to", "cpu", "cuda", "tolist", "item", "numpy", "__bool__", "__int__", "__float__", "nonzero", "tensor"}


@dataclass(frozen=True, slots=True)
class Work:
    """What was counted."""

    flops: int  # of matrix products and attention
    bytes: int  # of tensors that were made, views excluded
    moves: int  # calls that would move numbers between devices


def count_work(compute: Callable[[], object]) -> Work:
    """Run a computation and count what it does."""
    flops, memory, moves = FlopCounterMode(display=False, custom_mapping=_ONEDNN), _NewMemory(), _Moves()
    with flops:
        compute()
    with memory:
        compute()
    with moves:
        compute()
    return Work(int(flops.get_total_flops()), memory.bytes, sum(moves.calls.values()))


def count_calls(compute: Callable[[], object]) -> int:
    """Run a computation and count the calls of functions, those of C included."""
    calls = 0

    def count(_frame: Any, event: str, _value: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        compute()
    finally:
        sys.setprofile(before)
    return calls


def _linear_flops(states: Sequence[int], weight: Sequence[int], *_: object, **__: object) -> int:
    return 2 * prod(states) * weight[0]


_ONEDNN = {torch.ops.mkldnn._linear_pointwise: _linear_flops}  # which is not in torch's own list


class _NewMemory(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        known = set(map(_address, _tensors((args, kwargs))))
        self.bytes += sum(t.nbytes for t in _tensors(result) if _address(t) not in known)
        return result


class _Moves(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()

    def __torch_function__(
        self, function: Any, types: Any, args: Iterable[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        name = getattr(function, "__name__", "")
        to_type = name == "to" and any(isinstance(value, torch.dtype) for value in (*args, *(kwargs or {}).values()))
        if name in _MOVES and not to_type:
            self.calls[name] += 1
        return function(*args, **(kwargs or {}))


def _tensors(values: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def _address(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
