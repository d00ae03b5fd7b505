"""The end of a run: thresholds for the best model, its scores, and its card."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from parlink.checkpoint import load_checkpoint, read_config, update_tuned
from parlink.data import files
from parlink.detokenise import detokenise
from parlink.evaluate import Asked, Report, evaluate
from parlink.kb import KnowledgeBase
from parlink.linker import Linker
from parlink.model_card import Training, model_card
from parlink.scoring.counting import Rules
from parlink.scoring.tuning import tune
from parlink.train.events import Event, TunedEvent, WorkEvent
from parlink.train.validation import Validation


def finish(model: Path, training: Training, validation: Validation | None) -> Iterator[Event]:
    """Tune the model in its folder, measure it and write its card; without validation data, only the last."""
    reports: dict[str, Report] = {}
    if validation is not None:
        yield from _tune(model, validation, training.device)
        yield WorkEvent("measuring the model")
        reports = _measure(_linker(model, validation, training.device), validation)
    with files.written(model / "README.md") as file:
        file.write(model_card(training, read_config(model), reports).encode())


def _linker(model: Path, validation: Validation, device: str) -> Linker:
    source = validation.source
    kb = source if isinstance(source, KnowledgeBase) else None
    return Linker(load_checkpoint(model), kb=kb, source=source, device=device)


def _tune(model: Path, validation: Validation, device: str) -> Iterator[Event]:
    linker, documents = _linker(model, validation, device), validation.documents
    predicted = []
    for doc in Asked.about(documents, linker=linker, condition=validation.tuning).proposals():
        predicted.append(doc)
        yield WorkEvent("choosing thresholds", len(predicted), len(documents))
    tuning = tune(documents, predicted, tuned=linker.tuned, rules=Rules(condition=validation.tuning))
    update_tuned(model, tuning.tuned)
    yield TunedEvent(validation.tuning, tuning.tuned.threshold, tuning.tuned.score_threshold, tuning.thresholds.scores)


def _measure(linker: Linker, validation: Validation) -> dict[str, Report]:
    """Score the model on the validation text as it is, and detokenised where that makes a difference."""
    forms = {"as it is": list(validation.documents), "detokenised": [detokenise(doc) for doc in validation.documents]}
    if forms["detokenised"] == forms["as it is"]:
        del forms["detokenised"]
    return {
        form: evaluate(linker, documents, condition=validation.condition).report for form, documents in forms.items()
    }
