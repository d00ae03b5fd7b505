"""Let whoever waits for long work stop it between its steps.

Linking calls `check` between batches of windows, chunks of names and steps of a beam search. Under `interruptible` that
calls a function of the caller's, which raises to stop; elsewhere it does nothing. Each thread has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_checkpoint: ContextVar[Callable[[], None] | None] = ContextVar("checkpoint", default=None)


@contextmanager
def interruptible(checkpoint: Callable[[], None]) -> Iterator[None]:
    """Have `checkpoint` called between the steps of all linking in the block."""
    token = _checkpoint.set(checkpoint)
    try:
        yield
    finally:
        _checkpoint.reset(token)


def check() -> None:
    """Give the caller the occasion to stop the work by raising."""
    checkpoint = _checkpoint.get()
    if checkpoint is not None:
        checkpoint()
