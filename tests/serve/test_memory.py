from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

import pytest

from parlink.serve.memory import Heap

MEGABYTE = 1_000_000


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc only")
def test_holes_in_the_heap_go_back_to_the_system() -> None:
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "malloc_trim"):
        pytest.skip("glibc only")
    libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = (
        ctypes.c_void_p,
        [ctypes.c_size_t],
        [ctypes.c_void_p],
    )
    blocks = [libc.malloc(100_000) for _ in range(1_000)]  # below the size that gets pages of its own
    for block in blocks:
        ctypes.memset(block, 1, 100_000)
    for block in blocks[:-1]:
        libc.free(block)  # the last one holds the top of the heap
    full = resident()
    heap = Heap(seconds=1_000)
    assert not heap.is_due
    assert Heap(seconds=-1).is_due
    heap.trim()
    assert resident() < full - 50 * MEGABYTE
    libc.free(blocks[-1])
