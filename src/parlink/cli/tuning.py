"""What `parlink tune` does between its options and its output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from parlink.cli.bars import document_bar, tell
from parlink.cli.evaluation import Evaluation
from parlink.data import files
from parlink.errors import ParlinkError
from parlink.evaluation.conditions import Condition
from parlink.evaluation.context import redirected
from parlink.evaluation.counting import Rules
from parlink.evaluation.curves import draw_curve, draw_reliability
from parlink.evaluation.pairing import Placed, checked, failures
from parlink.evaluation.run import Evaluator
from parlink.evaluation.tuning import Tuning, tune
from parlink.kb.surface_table import SurfaceTable
from parlink.linking.linker import Linker


def tuned_on(setup: Evaluation, *, model: Path, condition: Condition, surfaces: Path | None, weights: bool) -> Tuning:
    """Link the documents once at a low threshold, and choose everything else from that; say what is odd in them."""
    warnings = setup.warnings + checked(setup.gold)
    linker = Linker.load(model, kb=setup.kb)
    if weights and linker.model.config.nil:
        raise ParlinkError(
            f"{model}: is trained with nil = true, and --weights would weigh its NIL by nothing; leave it out"
        )
    table = None if surfaces is None else SurfaceTable.load(surfaces)
    asked = Evaluator.about([item.doc for item in setup.gold], linker=linker, condition=condition, surfaces=table)
    predicted: list[Placed] = []
    with document_bar(len(setup.gold), f"linking, {condition}") as progress:
        for item, doc in zip(setup.gold, asked.proposals(), strict=True):
            predicted.append(Placed(doc, item.place))
            progress(1)
    for warned in warnings + failures(predicted):
        tell(f"warning: {warned.count:,} {warned.what}; first: {warned.first}")
    gold, links = (
        [redirected(item.doc, setup.context.redirects) for item in items] for items in (setup.gold, predicted)
    )
    return tune(gold, links, tuned=linker.tuned, weights=weights, rules=Rules(condition=condition))


def draw_curves(tuning: Tuning, folder: Path) -> list[Path]:
    """Draw F1 by detection threshold and by score threshold, and the reliability of the confidence."""
    found = tuning.thresholds
    plots = {
        "threshold.svg": draw_curve(
            found.curve, title="Linking by detection threshold", x_label="log-odds of a start", mark=found.threshold
        ),
        "score-threshold.svg": draw_curve(
            found.score_curve,
            title="Linking by score threshold",
            x_label="total of the best candidate",
            mark=found.score_threshold,
        ),
    }
    if tuning.reliability is not None:
        plots["reliability.svg"] = draw_reliability(tuning.reliability, title="Reliability, 5-fold over documents")
    for name, svg in plots.items():
        with files.written(folder / name) as file:
            file.write(svg.encode())
    return [folder / name for name in plots]


def print_tuning(tuning: Tuning, condition: Condition, *, curves: Sequence[Path], as_json: bool) -> None:
    """Print what was chosen and what it gives."""
    if condition is Condition.GIVEN_SURFACE:
        note = "tuned with a table of gold surfaces, which hides false detections: for other text use --condition kb"
        tell(note)
    value = {
        "condition": condition,
        "tuned": msgspec.to_builtins(tuning.tuned),
        "linking": {"inkb": {"micro": msgspec.to_builtins(tuning.thresholds.scores)}},
        "links": tuning.links,
        "calibration_error": None if tuning.reliability is None else tuning.reliability.error,
        "curves": [str(path) for path in curves],
    }
    if as_json:
        print(msgspec.json.encode(value).decode())
        return
    tuned, scores = tuning.tuned, tuning.thresholds.scores
    least = "none" if tuned.score_threshold is None else f"{tuned.score_threshold:.3f}"
    print(f"candidates: {condition}")
    print(f"threshold {tuned.mention_threshold:.1f}, score threshold {least}")
    print(f"weights: lm {tuned.weights.lm:g}, classifier {tuned.weights.classifier:g}, prior {tuned.weights.prior:g}")
    print(f"linking InKB micro: P {scores.precision:.2%}, R {scores.recall:.2%}, F1 {scores.f1:.2%} on this very data")
    if tuning.reliability is not None:
        print(f"confidence: expected calibration error {tuning.reliability.error:.1%}, 5-fold over documents")
    print("curves: " + ", ".join(map(str, curves)))
