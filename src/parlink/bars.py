"""Progress bars on standard error: for work that takes over two seconds, where somebody is watching."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
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
    with _LateBar(MofNCompleteColumn()) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)


@contextmanager
def share_bar(what: str) -> Iterator[Callable[[float], None]]:
    """Show a bar while the block runs, and give a function that is told which share of the work is done."""
    with _LateBar(TaskProgressColumn()) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda share: bar.update(task, completed=share)


class _LateBar(Progress):
    """A bar that appears when the work has taken a while, and only on a terminal or in a notebook."""

    def __init__(self, amount: ProgressColumn) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), amount, TimeElapsedColumn(), TimeRemainingColumn())
        super().__init__(*columns, console=console, disable=not (console.is_terminal or console.is_jupyter))
        self._begun = monotonic()

    def __enter__(self) -> _LateBar:
        return self

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        super().advance(task_id, advance)
        self._appear_if_late()

    def update(self, task_id: TaskID, **fields: Any) -> None:
        super().update(task_id, **fields)
        self._appear_if_late()

    def _appear_if_late(self) -> None:
        if not self.live.is_started and monotonic() - self._begun > PATIENCE:
            self.start()
