"""Progress bars on standard error: for work that takes over two seconds, where somebody is watching."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

PATIENCE = 2.0  # seconds that work may take without a word


def is_prompt() -> bool:
    """Whether a person types Python, at a prompt or in a notebook, rather than runs a program."""
    return hasattr(sys, "ps1")


@contextmanager
def document_bar(total: int | None, what: str) -> Iterator[Callable[[int], None]]:
    """Show a bar while the block runs, and give a function that is told how many more documents are done."""
    with LateBars(*columns(MofNCompleteColumn())) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)


@contextmanager
def share_bar(what: str) -> Iterator[Callable[[float], None]]:
    """Show a bar while the block runs, and give a function that is told which share of the work is done."""
    with LateBars(*columns(TaskProgressColumn())) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda share: bar.update(task, completed=share)


@contextmanager
def spinner(what: str) -> Iterator[None]:
    """Show that the block runs, where how much of it is done cannot be told; nothing of it is left at the end."""
    with LateBars(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), transient=True) as bar:
        bar.add_task(what, total=None)
        yield


def columns(*amounts: ProgressColumn) -> tuple[ProgressColumn, ...]:
    """What a bar consists of: what is done, how much of it, and for how long."""
    return (TextColumn("{task.description}"), BarColumn(), *amounts, TimeElapsedColumn(), TimeRemainingColumn())


class LateBars(Progress):
    """Bars that appear when the work has taken a while, and only on a terminal or in a notebook."""

    def __init__(self, *columns: ProgressColumn, transient: bool = False) -> None:
        console = Console(stderr=True)
        disable = not (console.is_interactive or console.is_jupyter)
        super().__init__(*columns, console=console, transient=transient, disable=disable)
        self._timer = Timer(PATIENCE, self.start)
        self._timer.daemon = True

    def __enter__(self) -> LateBars:
        if not self.disable:
            self._timer.start()
        return self

    def stop(self) -> None:
        """Take the bars away; those that have not appeared by now never will."""
        self._timer.cancel()
        if self._timer.is_alive():
            self._timer.join()
        super().stop()
