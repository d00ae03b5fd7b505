"""Map a function over an iterator in several processes: order kept, memory bounded.

What takes an `Engine` can be mapped by others as well, such as the actors of a Ray cluster. Here each process has a
pipe of its own and one item in hand. They share no lock, which a process that is killed could keep from the others.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Protocol, TypeVar

from parlink.errors import ParlinkError

SMALL_FILE = 4 << 20
_WAITING = 3  # items a process that are read, linked or waiting for one before them, so that memory stays bounded
_DIED = "a process died; is memory short? Try fewer processes (a script needs `if __name__ == '__main__':`)"
_END = object()
T = TypeVar("T")
R = TypeVar("R")


class Engine(Protocol):
    """Maps a function over items somewhere, some at a time, and gives the results in order; `map` is one."""

    def __call__(self, function: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]:
        """Yield what the function makes of each item."""
        ...


def in_processes(processes: int | None) -> Engine:
    """Return what maps in so many processes of this machine; None: one a core."""
    return partial(map_in_order, processes=processes or os.cpu_count() or 1)


def unless_small(path: Path, engine: Engine) -> Engine:
    """Return what is to read a file: the engine, or `map`, where it is not worth the start of other processes."""
    return map if path.stat().st_size < SMALL_FILE else engine


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
    with _start(function, processes) as workers:
        yield from _map(workers, iter(items))


@dataclass(slots=True)
class _Worker:
    """A process, and the number of the item that it has in hand."""

    process: BaseProcess
    connection: Connection
    number: int | None = None

    def send(self, number: int, item: object) -> None:
        self.number = number
        try:
            self.connection.send(item)
        except OSError as error:
            raise ParlinkError(_DIED) from error

    def receive(self) -> tuple[int, Any]:
        number, self.number = self.number, None
        assert number is not None
        try:
            return number, self.connection.recv()
        except (EOFError, OSError) as error:
            raise ParlinkError(_DIED) from error


@dataclass(frozen=True, slots=True)
class _Failure:
    """What the function raised."""

    error: BaseException


@contextmanager
def _start(function: Callable[[Any], Any], processes: int) -> Iterator[list[_Worker]]:
    """Start processes, and end them whatever they do: nobody waits for their results any more."""
    context = multiprocessing.get_context("spawn")  # the caller may have threads, which a fork does not survive
    workers: list[_Worker] = []
    try:
        for _ in range(processes):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(function, theirs), daemon=True)
            workers.append(_Worker(process, ours))
            process.start()
            theirs.close()
        yield workers
    finally:
        for worker in workers:
            worker.connection.close()
            if worker.process.pid is not None:
                worker.process.kill()
                worker.process.join()


def _map(workers: Sequence[_Worker], items: Iterator[Any]) -> Iterator[Any]:
    results: dict[int, Any] = {}
    sent = given = 0
    item = next(items, _END)
    while item is not _END or given < sent:
        for worker in workers:
            if worker.number is None and item is not _END and sent < given + _WAITING * len(workers):
                worker.send(sent, item)
                sent, item = sent + 1, next(items, _END)
        busy = {worker.connection: worker for worker in workers if worker.number is not None}
        for connection in wait(list(busy), timeout=0 if given in results else None):
            number, result = busy[connection].receive()  # type: ignore[index]
            results[number] = result
        if given in results:
            result = results.pop(given)
            if isinstance(result, _Failure):
                raise result.error
            yield result
            given += 1


def _work(function: Callable[[Any], Any], connection: Connection) -> None:
    """Answer items until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one, which ends it
    threading.Thread(target=_follow_parent, daemon=True).start()
    while True:
        try:
            item = connection.recv()
        except (EOFError, OSError):
            return
        try:
            result = function(item)
        except Exception as error:
            result = _Failure(_make_portable(error))
        connection.send(result)


def _make_portable(error: Exception) -> Exception:
    """An error that can be sent: itself, or one with the same text."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return ParlinkError(str(error)) if isinstance(error, ParlinkError) else RuntimeError(repr(error))
    return error


def _follow_parent() -> None:
    """End with the process that started this one, even in the middle of an item."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
