"""A report as one HTML page that needs nothing else: scores, curves, and every error in its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from parlink.evaluation.curves import draw_curve, draw_reliability
from parlink.evaluation.report.error_list import ErrorGroup, ErrorView, count_kinds, view_errors
from parlink.evaluation.resampling import Interval
from parlink.evaluation.scoring import Report, Task
from parlink.pages import render
from parlink.pages.link_card import PARTS


@dataclass(frozen=True, slots=True)
class Tile:
    """A score that one looks at first, and what it is of."""

    name: str
    task: Task
    basis: str


@dataclass(frozen=True, slots=True)
class Section:
    """A report as the page shows it; errors come one by one, as there may be many."""

    name: str
    report: Report
    tiles: tuple[Tile, ...]
    facts: tuple[tuple[str, str], ...]
    plots: tuple[Markup, ...]
    groups: Sequence[ErrorGroup]
    errors: Iterable[ErrorView]


def to_html(reports: Sequence[Report], *, title: str) -> str:
    """Write the page; several reports are sections of it."""
    sections = [_section(report) for report in reports]
    return render("report.html", title=title, sections=sections, range=_range, parts=PARTS)


def _section(report: Report) -> Section:
    tiles = (
        Tile("Linking F1", report.linking, "InKB, micro"),
        Tile("Detection F1", report.detection, "InKB, micro"),
        Tile("Disambiguation accuracy", report.disambiguation, report.disambiguation_spans),
    )
    return Section(
        "Predictions" if report.condition is None else f"Candidates: {report.condition}",
        report,
        tiles=tiles,
        facts=tuple(_facts(report)),
        plots=tuple(Markup(plot) for plot in _plots(report)),  # SVG of ours, in which names are escaped
        groups=count_kinds(report),
        errors=view_errors(report),
    )


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    yield "documents", f"{len(report.documents):,}"
    yield "gold mentions", f"{report.linked:,} with an entity, {report.nil:,} NIL"
    yield "predicted links", f"{report.predicted:,}, of which without candidates {report.without_candidates:,}"
    yield "match", f"{report.match}: spans {'equal' if report.match == 'strong' else 'overlapping'}, entities equal"
    yield "redirects", report.redirects or "none: titles are compared as they are"
    yield "knowledge base", report.kb or "none"
    yield "gold entities in it", str(report.coverage or "not known")
    yield "candidate recall", str(report.candidate_recall or "not known")
    if report.seen is not None:
        yield "F1, entity seen in training", f"{100 * report.seen.seen.micro.f1:.2f} ({report.seen.source})"
        yield "F1, entity not seen", f"{100 * report.seen.unseen.micro.f1:.2f}"
    if report.kinds is not None:
        yield "F1, names", f"{100 * report.kinds.names.micro.f1:.2f}"
        yield "F1, common nouns and other mentions", f"{100 * report.kinds.others.micro.f1:.2f}"


def _plots(report: Report) -> Iterator[str]:
    if report.confidence_curve:
        title = "Linking InKB micro scores of links above a confidence"
        yield draw_curve(report.confidence_curve, title=title, x_label="least confidence")
    if report.reliability is not None:
        yield draw_reliability(report.reliability, title="Reliability of the confidence")


def _range(interval: Interval) -> str:
    return f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"
