"""What standard error shows beside a result: notes, and bars over documents or over the one piece of work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


def tell(note: str) -> None:
    """Print a note beside the result."""
    Console(stderr=True).print(note, style="yellow", soft_wrap=True)


@contextmanager
def document_bar(total: int | None, what: str) -> Iterator[Callable[[int], None]]:
    """Show a bar while the block runs, and give a function that is told how many more documents are done."""
    with _display(MofNCompleteColumn()) as display:
        task = display.add_task(what, total=total)
        yield lambda done: display.advance(task, done)


@contextmanager
def share_bar(what: str) -> Iterator[Callable[[float], None]]:
    """Show a bar while the block runs, and give a function that is told which share of the work is done."""
    with _display(TaskProgressColumn()) as display:
        task = display.add_task(what, total=1.0)
        yield lambda share: display.update(task, completed=share)


def _display(amount: ProgressColumn) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), amount, TimeElapsedColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True))
