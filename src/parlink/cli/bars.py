"""Notes and progress bars on standard error, so that they do not mix with results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from parlink.bars import document_bar as document_bar
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
    rates = TextColumn("{task.fields[rates]}")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), rates)
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as display:
        task = display.add_task(what, total=total, rates="")
        began = time.monotonic()

        def tell_of(more: Tally) -> None:
            if not display.tasks[0].fields["rates"]:
                before.add(more)
            done.add(more)
            told = describe_rates(done, before, time.monotonic() - began)
            display.update(task, advance=more.documents + more.unreadable, rates=told)

        yield tell_of


def describe_rates(done: Tally, before: Tally, seconds: float) -> str:
    """Say how many documents, tokens and links a second were done since `before`."""
    counts = {name: getattr(done, name) - getattr(before, name) for name in ("documents", "tokens", "links")}
    return ", ".join(f"{count / max(seconds, 1e-3):,.1f} {name}/s" for name, count in counts.items())
