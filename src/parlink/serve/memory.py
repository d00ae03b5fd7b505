"""Give freed memory back to the operating system.

Batches of ever new shapes leave holes in the C library's heap, which then grows by hundreds of megabytes within
minutes although nothing leaks (benchmarks/serve.py --overload). Trimming it takes about ten milliseconds.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from functools import cache


class Heap:
    """The heap of this process, to be trimmed now and then."""

    def __init__(self, *, seconds: float = 2.0) -> None:
        self._seconds, self._last = seconds, time.monotonic()

    @property
    def is_due(self) -> bool:
        """Whether the last time is long enough ago."""
        return time.monotonic() - self._last > self._seconds

    def trim(self) -> None:
        """Give back what is free."""
        _malloc_trim()(0)
        self._last = time.monotonic()


@cache
def _malloc_trim() -> Callable[[int], object]:
    """Return glibc's function; elsewhere, one that does nothing."""
    try:
        trim: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return lambda pad: None
    return trim
