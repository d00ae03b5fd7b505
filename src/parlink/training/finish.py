"""The end of a run: thresholds for the best model, its scores, and its card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from parlink.checkpoint.card import Scores, Training, model_card
from parlink.checkpoint.config_file import read_config, update_tuned
from parlink.checkpoint.folder import load_checkpoint
from parlink.data import files
from parlink.evaluation.counting import Rules
from parlink.evaluation.run import Evaluator, Report, evaluate
from parlink.evaluation.tuning import tune
from parlink.linking.linker import Linker
from parlink.text.detokenize import detokenize
from parlink.training.events import Event, TunedEvent, WorkEvent
from parlink.training.validation import Validation


def finish(model: Path, training: Training, validation: Validation | None) -> Iterator[Event]:
    """Tune the model in its folder, measure it and write its card; without validation data, only the last."""
    reports: dict[str, Report] = {}
    if validation is not None:
        yield from _tune(model, validation, training.device)
        yield WorkEvent("measuring the model")
        reports = _measure(_linker(model, validation, training.device), validation)
    with files.open_output(model / "README.md") as file:
        file.write(model_card(training, read_config(model), _scores(reports)).encode())


def _scores(reports: Mapping[str, Report]) -> Scores | None:
    if not reports:
        return None
    first = next(iter(reports.values()))
    rows = {form: _row(report) for form, report in reports.items()}
    return Scores(len(first.documents), first.linked, first.explanation, rows)


def _row(report: Report) -> tuple[float, ...]:
    linking = report.linking.inkb.micro
    rest = (report.detection.inkb.micro.f1, report.disambiguation.inkb.micro.f1)
    return (linking.f1, linking.precision, linking.recall, *rest)


def _linker(model: Path, validation: Validation, device: str) -> Linker:
    return Linker(load_checkpoint(model), kb=validation.kb, source=validation.source, device=device)


def _tune(model: Path, validation: Validation, device: str) -> Iterator[Event]:
    linker, documents = _linker(model, validation, device), validation.documents
    predicted = []
    for doc in Evaluator.about(documents, linker=linker, condition=validation.tuning).proposals():
        predicted.append(doc)
        yield WorkEvent("choosing thresholds", len(predicted), len(documents))
    tuning = tune(documents, predicted, tuned=linker.tuned, rules=Rules(condition=validation.tuning))
    update_tuned(model, tuning.tuned)
    yield TunedEvent(
        validation.tuning, tuning.tuned.mention_threshold, tuning.tuned.score_threshold, tuning.thresholds.scores
    )


def _measure(linker: Linker, validation: Validation) -> dict[str, Report]:
    """Score the model on the validation text as it is, and detokenized where that makes a difference."""
    forms = {"as it is": list(validation.documents), "detokenized": [detokenize(doc) for doc in validation.documents]}
    if forms["detokenized"] == forms["as it is"]:
        del forms["detokenized"]
    return {
        form: evaluate(linker, documents, condition=validation.condition).report for form, documents in forms.items()
    }
