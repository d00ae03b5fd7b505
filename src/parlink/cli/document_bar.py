"""A progress bar over documents, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


@contextmanager
def document_bar(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """Show a bar while the block runs, and give a function that is told how many more documents are done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as display:
        task = display.add_task(what, total=total)
        yield lambda done: display.advance(task, done)
