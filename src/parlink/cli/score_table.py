"""Reports and tunings on a terminal, or as lines of JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from parlink.cli.bars import tell
from parlink.config import ScoreWeights
from parlink.evaluation.conditions import Condition
from parlink.evaluation.errors import error_counts
from parlink.evaluation.metrics import Scores
from parlink.evaluation.pairing import EvalWarning
from parlink.evaluation.report.json import to_json
from parlink.evaluation.resampling import Interval
from parlink.evaluation.scoring import Report, Task
from parlink.evaluation.tuning import Tuning
from parlink.evaluation.tuning_run import DecisionTuning
from parlink.evaluation.weighting import FittedWeights


def print_reports(reports: Sequence[Report], *, as_json: bool) -> None:
    """Print a table, or a line of JSON, for each report."""
    for report in reports:
        if as_json:
            sys.stdout.buffer.write(msgspec.json.encode(to_json(report)) + b"\n")
        else:
            show_report(report, console=Console())
    sys.stdout.buffer.flush()


def print_tuning(
    tuning: Tuning,
    condition: Condition,
    *,
    warnings: Sequence[EvalWarning],
    curves: Sequence[Path],
    as_json: bool,
) -> None:
    """Print what was chosen and what it gives."""
    for warning in warnings:
        tell(f"warning: {warning}")
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
    print(_weights(tuned.weights, tuning.weights))
    print(f"linking InKB micro: P {scores.precision:.2%}, R {scores.recall:.2%}, F1 {scores.f1:.2%} on this very data")
    if tuning.reliability is not None:
        print(f"confidence: expected calibration error {tuning.reliability.error:.1%}, 5-fold over documents")
    print("curves: " + ", ".join(map(str, curves)))


def print_decision(tuning: DecisionTuning, *, as_json: bool) -> None:
    """Print the decision, and what it gives on each dataset out of fold."""
    decision, sets = tuning.decided.decision, tuning.decided.sets
    rows = [
        {
            "name": each.name,
            "linking": msgspec.to_builtins(each.scores),
            "links": each.reliability.links,
            "calibration_error": each.reliability.error,
            "given_calibration_error": each.given.error,
        }
        for each in sets
    ]
    if as_json:
        print(msgspec.json.encode({"tuned": msgspec.to_builtins(tuning.tuned), "sets": rows}).decode())
        return
    print(_weights(tuning.tuned.weights, tuning.weights))
    print(f"a link is made from a confidence of {decision.min_confidence:.2f} on; fitted on {len(sets)} datasets")
    table = Table("out of fold", "P", "R", "F1", "links", "calibration error", "with spans given", box=None)
    for each in sets:
        figures = (each.scores.precision, each.scores.recall, each.scores.f1)
        errors = (f"{100 * value.error:.1f} %" for value in (each.reliability, each.given))
        table.add_row(each.name, *(f"{100 * value:.2f}" for value in figures), f"{each.reliability.links:,}", *errors)
    Console().print(table)


def _weights(weights: ScoreWeights, fitted: FittedWeights | None) -> str:
    """Say the weights, and where each lies with a certainty of 95 % if they were fitted."""
    values = msgspec.structs.asdict(weights).items()
    ranges = {} if fitted is None else fitted.intervals
    spread = {
        name: f" ({ranges[name].low:.2f} to {ranges[name].high:.2f})" if name in ranges else "" for name, _ in values
    }
    return "weights: " + ", ".join(f"{name} {value:.4g}{spread[name]}" for name, value in values)


def show_report(report: Report, *, console: Console) -> None:
    """Print a report."""
    name = "predictions" if report.condition is None else f"candidates: {report.condition}"
    console.print(Text(name, style="bold"))
    console.print(Padding(Text(report.explanation, style="dim"), (0, 0, 1, 0)))
    for warned in report.warnings:
        console.print(Text(f"warning: {warned}", style="yellow"))
    console.print(_scores(report))
    for line in _facts(report):
        console.print(Text(line), soft_wrap=True)
    console.print(_errors(report))


def _scores(report: Report) -> Table:
    table = Table(box=None, pad_edge=False, collapse_padding=True, header_style="bold")
    table.add_column("InKB", no_wrap=True)
    for column in ("P", "R", "F1", "95 %", "macro", "95 %", "with NIL"):
        table.add_column(column, justify="right", no_wrap=True)
    for name, task in report.tasks.items():
        table.add_row(name, *_row(task))
    return table


def _row(task: Task) -> Iterator[str]:
    micro = task.inkb.micro
    if task.is_empty:
        yield from ("–",) * 7
        return
    yield from (f"{100 * value:.2f}" for value in (micro.precision, micro.recall, micro.f1))
    yield _range(task.intervals.f1)
    yield f"{100 * task.inkb.macro.f1:.2f}"
    yield _range(task.intervals.macro_f1)
    yield "" if task.with_nil is None else f"{100 * task.with_nil.micro.f1:.2f}"


def _facts(report: Report) -> Iterator[str]:
    counts = report.linking.counts
    yield ""
    yield f"{len(report.documents):,} documents, {report.linked:,} linked and {report.nil:,} NIL gold mentions"
    yield f"disambiguation: accuracy on {report.disambiguation_spans}"
    not_given = f"{counts.fn:,} of {counts.tp + counts.fn:,} gold links not given"  # missed, or given a wrong entity
    yield f"{report.predicted:,} links: {counts.tp:,} right, {counts.fp:,} wrong; {not_given}"
    if report.without_candidates:
        yield f"{report.without_candidates:,} detected spans had no given candidates and count as wrong"
    yield f"match: {report.match}; redirects: {report.redirects or 'none, titles are compared as they are'}"
    if report.kb is not None:
        yield f"knowledge base {report.kb}: holds the gold entity of {report.coverage} mentions"
    if report.candidate_recall is not None:
        yield f"candidate recall: {report.candidate_recall}"
    if report.seen is not None:
        seen, unseen = report.seen.seen.micro.f1, report.seen.unseen.micro.f1
        yield f"linking F1 where the entity is in {report.seen.source}: {100 * seen:.2f}, elsewhere {100 * unseen:.2f}"
    if report.kinds is not None:
        names, others = report.kinds.names.micro, report.kinds.others.micro
        yield f"linking of names: {_percents(names)}; of common nouns and others: {_percents(others)}"
    if report.comparison is not None:
        other, low, high = report.comparison, report.comparison.interval.low, report.comparison.interval.high
        yield f"the other system's linking F1: {100 * other.other_f1:.2f}; difference {100 * other.difference:+.2f}"
        yield f"  95 %: {100 * low:+.2f} to {100 * high:+.2f}, p = {other.p_value:.4f}, paired over documents"
    if report.reliability is not None:
        yield f"expected calibration error of the confidence: {100 * report.reliability.error:.1f} %"


def _percents(scores: Scores) -> str:
    return f"P {100 * scores.precision:.2f}, R {100 * scores.recall:.2f}, F1 {100 * scores.f1:.2f}"


def _errors(report: Report) -> Padding:
    table = Table("errors", "", box=None, pad_edge=False, header_style="bold")
    table.add_column("", justify="right")
    for group, kinds in error_counts(report.errors).items():
        table.add_row(group, "", f"{sum(kinds.values()):,}")
        for kind, count in kinds.items():
            table.add_row("", kind, f"{count:,}", style="dim")
    return Padding(table, (1, 0))


def _range(interval: Interval) -> str:
    return f"{100 * interval.low:.1f}–{100 * interval.high:.1f}"
