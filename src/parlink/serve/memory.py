"""Keep the memory of a process that links ever new shapes flat.

oneDNN keeps the kernels of the last 1024 shapes. Nearly every batch has shapes of its own, and the kernels, lying
between the large blocks that batches free, keep the heap from being used again: it grows by megabytes a second although
nothing leaks. Keeping few of them costs no time that could be measured (benchmarks/serve.py --overload).
"""

from __future__ import annotations

import os


def keep_few_kernels() -> None:
    """Bound oneDNN's cache, unless the user has; to be called before torch first computes."""
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "16")
