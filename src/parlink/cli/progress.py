"""The progress display of a training run."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from contextlib import closing

from rich.console import Console, RenderableType
from rich.logging import RichHandler
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from parlink.training.events import Event, StepEvent, TunedEvent, ValidationEvent
from parlink.training.loop import Run


def training_console() -> Console:
    """Standard error, or nothing in a process that is not the first."""
    return Console(stderr=True, quiet=os.environ.get("RANK", "0") != "0")


def log_to(console: Console) -> None:
    """Show what the library logs above the bar."""
    handler = RichHandler(console=console, show_path=False)
    logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=[handler])


class Bars(Progress):
    """A bar for each part of the work, and a line below them for the rest."""

    line = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        """Say what to draw, as rich asks for it."""
        yield self.make_tasks_table(self.tasks)
        yield Text(self.line, style="dim", no_wrap=True, overflow="ellipsis")


def show_training(run: Run, *, console: Console) -> None:
    """Run to the end with a bar for each stage, the parts of the loss, tokens per second and time left."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with (
        Bars(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console) as bars,
        closing(run.events()) as events,
    ):
        tasks: dict[str, TaskID] = {}
        for event in events:
            _show(event, bars, tasks)
        bars.line = ""


def _show(event: Event, bars: Bars, tasks: dict[str, TaskID]) -> None:
    if isinstance(event, ValidationEvent):
        mark = " (best so far, kept)" if event.best else ""
        scores = f"linking micro-F1 {100 * event.f1:.2f}, detection {100 * event.detection_f1:.2f}"
        bars.console.print(f"step {event.total}: validation {scores}{mark}", soft_wrap=True)
    elif isinstance(event, TunedEvent):
        least = "none" if event.score_threshold is None else f"{event.score_threshold:.3f}"
        chosen = f"threshold {event.threshold:.1f}, score threshold {least}"
        scores = f"linking micro-F1 {100 * event.scores.f1:.2f} on the validation data, {event.condition}"
        bars.console.print(f"{chosen}: {scores}", soft_wrap=True)
    elif isinstance(event, StepEvent):
        _advance(bars, tasks, f"stage {event.stage + 1}", event.step, event.planned)
        bars.line = _losses(event)
    else:
        bars.line = event.what
        if event.whole:
            _advance(bars, tasks, event.what, event.done, event.whole)


def _advance(bars: Bars, tasks: dict[str, TaskID], what: str, done: int, whole: int) -> None:
    if what not in tasks:
        tasks[what] = bars.add_task(what, total=whole)
    bars.update(tasks[what], completed=done)


def _losses(event: StepEvent) -> str:
    parts = " ".join(f"{name} {value:.3f}" for name, value in event.losses.items())
    return f"{event.tokens_per_second:,.0f} tokens/s, {parts}"
