"""What happens in a training run, and the log of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from parlink.data import files
from parlink.errors import TrainingError
from parlink.evaluation.conditions import Condition
from parlink.evaluation.metrics import Scores


@dataclass(frozen=True, slots=True)
class StepEvent:
    """A training step that was done."""

    stage: int
    step: int
    planned: int
    total: int  # steps of all stages so far
    losses: dict[str, float]
    rate: float
    tokens_per_second: float
    seconds: float


@dataclass(frozen=True, slots=True)
class ValidationEvent:
    """A score on the validation data."""

    stage: int
    step: int
    total: int
    f1: float  # linking InKB micro
    detection_f1: float
    best: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class WorkEvent:
    """Something that takes its time is about to begin, or has come this far."""

    what: str
    done: int = 0
    whole: int = 0  # documents; 0: not known


@dataclass(frozen=True, slots=True)
class TunedEvent:
    """The thresholds were chosen, at the very end."""

    condition: Condition
    threshold: float
    score_threshold: float | None
    scores: Scores  # linking InKB micro, with these thresholds


Event = StepEvent | ValidationEvent | WorkEvent | TunedEvent


class RunLog:
    """`log.jsonl` of a run: one line for some of the steps and for every validation."""

    def __init__(self, path: Path, *, every: int) -> None:
        self.path, self.every = path, every

    def begin(self, *, total: int) -> None:
        """Start a new log, or drop what was logged after the checkpoint of step `total`."""
        kept = [entry for entry in self.entries() if entry["total"] <= total] if total else []
        with files.open_output(self.path) as file:
            file.writelines(msgspec.json.encode(entry) + b"\n" for entry in kept)

    def add(self, event: Event) -> None:
        """Write an event, if it is one to keep."""
        kept = event.total % self.every == 0 if isinstance(event, StepEvent) else isinstance(event, ValidationEvent)
        if not kept:
            return
        try:
            with self.path.open("ab") as file:
                file.write(msgspec.json.encode(event) + b"\n")
        except OSError as error:
            raise TrainingError(f"{self.path}: cannot be written ({error.strerror}); go on with --resume") from error

    def entries(self) -> Iterator[dict[str, Any]]:
        """Read what was logged; a last line that was cut off is passed over."""
        lines = self.path.read_bytes().splitlines(keepends=True) if self.path.exists() else []
        for line in lines:
            if line.endswith(b"\n"):
                yield msgspec.json.decode(line)
