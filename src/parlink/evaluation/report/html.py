"""A report as one HTML page that needs nothing else: scores, curves, and every error in its text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files

from parlink.evaluation.curves import draw_curve, draw_reliability
from parlink.evaluation.report.error_list import error_cards, error_filters
from parlink.evaluation.resampling import Comparison, Interval
from parlink.evaluation.scoring import Report, Task


def to_html(reports: Sequence[Report], *, title: str) -> str:
    """Write the page; several reports are sections of it."""
    style, script = ((files(__package__) / name).read_text() for name in ("report.css", "report.js"))
    sections = "".join(_section(report) for report in reports)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width, initial-scale=1"><title>{escape(title)}</title><style>{style}</style></head>'
        f'<body><main><h1>{escape(title)}</h1><p class="soft">Entity linking scores by parlink. InKB: mentions to '
        "which the benchmark gives an entity. Intervals: 95 %, bootstrap over documents.</p>"
        f"{sections}</main><script>{script}</script></body></html>\n"
    )


def _section(report: Report) -> str:
    name = "Predictions" if report.condition is None else f"Candidates: {report.condition}"
    return (
        f'<section class="report"><h2>{escape(name)}</h2><p class="soft">{escape(report.explanation)}</p>'
        f"{_warnings(report)}{_tiles(report)}{_comparison(report.comparison)}{_table(report)}{_facts(report)}{_plots(report)}"
        f"<h3>Errors</h3>{error_filters(report)}{error_cards(report)}</section>"
    )


def _warnings(report: Report) -> str:
    return "".join(
        f'<p class="warning">{warned.count:,} {escape(warned.what)}; first: {escape(warned.first)}</p>'
        for warned in report.warnings
    )


def _tiles(report: Report) -> str:
    tiles = [
        _tile("Linking F1", report.linking, "InKB, micro"),
        _tile("Detection F1", report.detection, "InKB, micro"),
        _tile("Disambiguation accuracy", report.disambiguation, report.disambiguation_spans),
    ]
    return f'<div class="tiles">{"".join(tiles)}</div>'


def _tile(name: str, task: Task, basis: str) -> str:
    value, interval = task.inkb.micro.f1, task.intervals.f1
    left, width = 100 * interval.low, max(100 * (interval.high - interval.low), 0.5)
    return (
        f'<div class="tile"><span class="soft">{escape(name)}</span><b>{100 * value:.1f}</b><div class="range">'
        f'<i style="left:{left:.2f}%;width:{width:.2f}%"></i><s style="left:{100 * value:.2f}%"></s></div>'
        f'<span class="soft">{escape(basis)}; 95 %: {_range(interval)}</span></div>'
    )


def _table(report: Report) -> str:
    head = (
        "<tr><th></th><th>precision</th><th>recall</th><th>F1</th><th>95 %</th><th>macro F1</th><th>95 %</th>"
        "<th>F1 with NIL</th><th>right</th><th>wrong</th><th>missed</th></tr>"
    )
    rows = "".join(_row(name, task) for name, task in report.tasks.items())
    return f'<div class="scroll"><table>{head}{rows}</table></div>'


def _row(name: str, task: Task) -> str:
    micro, counts = task.inkb.micro, task.counts
    values = [
        *(f"{100 * value:.2f}" for value in (micro.precision, micro.recall, micro.f1)),
        _range(task.intervals.f1),
        f"{100 * task.inkb.macro.f1:.2f}",
        _range(task.intervals.macro_f1),
        "" if task.with_nil is None else f"{100 * task.with_nil.micro.f1:.2f}",
        *(f"{value:,}" for value in (counts.tp, counts.fp, counts.fn)),
    ]
    return f"<tr><td>{name}</td>{''.join(f'<td>{value}</td>' for value in values)}</tr>"


def _facts(report: Report) -> str:
    facts = [
        ("documents", f"{len(report.documents):,}"),
        ("gold mentions", f"{report.linked:,} with an entity, {report.nil:,} NIL"),
        ("predicted links", f"{report.predicted:,}, of which without candidates {report.without_candidates:,}"),
        ("match", f"{report.match}: spans {'equal' if report.match == 'strong' else 'overlapping'}, entities equal"),
        ("redirects", report.redirects or "none: titles are compared as they are"),
        ("knowledge base", report.kb or "none"),
        ("gold entities in it", str(report.coverage or "not known")),
        ("candidate recall", str(report.candidate_recall or "not known")),
    ]
    if report.seen is not None:
        facts.append(("F1, entity seen in training", f"{100 * report.seen.seen.micro.f1:.2f} ({report.seen.source})"))
        facts.append(("F1, entity not seen", f"{100 * report.seen.unseen.micro.f1:.2f}"))
    return f"<dl>{''.join(f'<dt>{name}</dt><dd>{escape(value)}</dd>' for name, value in facts)}</dl>"


def _plots(report: Report) -> str:
    plots = []
    if report.confidence_curve:
        title = "Linking InKB micro scores of links above a confidence"
        plots.append(draw_curve(report.confidence_curve, title=title, x_label="least confidence"))
    if report.reliability is not None:
        plots.append(draw_reliability(report.reliability, title="Reliability of the confidence"))
    return f'<div class="plots">{"".join(plots)}</div>' if plots else ""


def _comparison(comparison: Comparison | None) -> str:
    if comparison is None:
        return ""
    difference, interval = f"{100 * comparison.difference:+.2f}", _range(comparison.interval)
    return (
        f"<p>The other system has a linking F1 of {100 * comparison.other_f1:.2f}; the difference is "
        f"<b>{difference}</b> (95 %: {interval}; p = {comparison.p_value:.4f}, paired over documents).</p>"
    )


def _range(interval: Interval) -> str:
    return f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"
