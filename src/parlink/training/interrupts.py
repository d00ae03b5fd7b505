"""Ctrl-C at a moment that does no harm, and other ways to stop a run that are as gentle."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def held() -> Iterator[None]:
    """Let the block finish before a signal to stop takes effect; other threads than the main one get none anyway."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    usual = {number: signal.signal(number, lambda number, _: arrived.append(number)) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
        if arrived:
            signal.raise_signal(arrived[0])


@contextmanager
def as_ctrl_c() -> Iterator[None]:
    """Let SIGTERM, as schedulers and torchrun send it to end a job, do what Ctrl-C does."""
    usual = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual)
