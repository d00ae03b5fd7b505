"""Map a function over an iterator in several processes: order kept, memory bounded."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import TypeVar

from parlink.errors import ParlinkError

_WAITING = 3  # items a process, so that none runs dry and memory stays bounded
T = TypeVar("T")
R = TypeVar("R")


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Cut an iterable into lists of `size`, the last one shorter."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def map_in_order(function: Callable[[T], R], items: Iterable[T], *, processes: int) -> Iterator[R]:
    """Yield the results in order; with one process nothing is started.

    The processes are spawned, so `function` is a module's own, and items and results can be pickled.
    """
    if processes <= 1:
        yield from map(function, items)
        return
    waiting: deque[Future[R]] = deque()
    context = multiprocessing.get_context("spawn")  # the caller may have threads, which a fork does not survive
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_begin) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) >= _WAITING * processes:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as error:
            message = "a process died; is memory short? Try fewer processes"
            raise ParlinkError(f"{message} (a script needs `if __name__ == '__main__':`)") from error
        finally:
            pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """Leave Ctrl-C to the process that started the others, which ends them; if that is killed, end too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
