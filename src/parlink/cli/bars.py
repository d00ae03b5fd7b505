"""Notes and progress bars on standard error, so that they do not mix with results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TaskID, TextColumn

from parlink.bars import LateBars, columns
from parlink.bars import document_bar as document_bar
from parlink.bars import spinner as spinner
from parlink.corpus.tally import Tally


def tell(note: str) -> None:
    """Print a note beside the result."""
    Console(stderr=True).print(note, style="yellow", soft_wrap=True)


@contextmanager
def corpus_bar(total: int | None, what: str) -> Iterator[Callable[[Tally], None]]:
    """Show a bar, documents, tokens and links a second and the time left; give a function that is told what is done.

    What it is told first was done before, and is in no rate.
    """
    done, before = Tally(), Tally()
    with LateBars(*columns(MofNCompleteColumn(), TextColumn("{task.fields[rates]}"))) as display:
        task = display.add_task(what, total=total, rates="")
        began = time.monotonic()

        def tell_of(more: Tally) -> None:
            if not display.tasks[0].fields["rates"]:
                before.add(more)
            done.add(more)
            told = describe_rates(done, before, time.monotonic() - began)
            display.update(task, advance=more.documents + more.unreadable, rates=told)

        yield tell_of


@contextmanager
def stage_bars() -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar a stage, and give a function that is told the stage, how much of it is done, and of how much."""
    with LateBars(*Progress.get_default_columns()) as bars:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, whole: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=whole or None)
            bars.update(tasks[stage], completed=done)

        yield show


def describe_rates(done: Tally, before: Tally, seconds: float) -> str:
    """Say how many documents, tokens and links a second were done since `before`."""
    counts = {name: getattr(done, name) - getattr(before, name) for name in ("documents", "tokens", "links")}
    return ", ".join(f"{count / max(seconds, 1e-3):,.1f} {name}/s" for name, count in counts.items())
