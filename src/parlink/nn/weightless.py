"""Modules without weights, names and shapes only: for counting, and for weights that come from a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class _Uninitialized(TorchFunctionMode):
    """Leaves tensors as they are instead of drawing numbers for them."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        named = kwargs or {}
        if getattr(func, "__module__", None) == "torch.nn.init":
            return named["tensor"] if "tensor" in named else args[0]
        return func(*args, **named)


@contextmanager
def weightless() -> Iterator[None]:
    """Build modules on the meta device; to draw numbers there too would load a compiler, for over a second."""
    with torch.device("meta"), _Uninitialized():
        yield
