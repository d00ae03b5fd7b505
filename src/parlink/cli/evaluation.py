"""What `parlink evaluate` does between its options and its output."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from rich.console import Console

from parlink.cli.bars import document_bar
from parlink.cli.score_table import show_report
from parlink.config import LinkOptions
from parlink.data import files, jsonl
from parlink.errors import ParlinkError
from parlink.evaluation.conditions import Condition, stated_condition, stating_condition
from parlink.evaluation.context import EvalContext, gather
from parlink.evaluation.counting import Rules
from parlink.evaluation.matching import Match
from parlink.evaluation.pairing import Placed, Warned, read_placed
from parlink.evaluation.report.html import to_html
from parlink.evaluation.report.json import to_json
from parlink.evaluation.scoring import Report, score
from parlink.text.detokenize import detokenize

if TYPE_CHECKING:
    from parlink.kb import KnowledgeBase


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is scored against, and how."""

    gold: Sequence[Placed]
    other: Sequence[Placed] | None
    context: EvalContext
    kb: KnowledgeBase | None
    match: Match
    losses: Counter[str]  # what could not be read as it was meant

    @classmethod
    def read(
        cls,
        data: Sequence[Path],
        *,
        kb: Path | None,
        redirects: Path | None = None,
        seen: Sequence[Path] = (),
        compare: Path | None = None,
        weak: bool = False,
        natural: bool = False,
    ) -> Evaluation:
        """Read everything that was named."""
        base = None if kb is None else opened_kb(kb)
        losses: Counter[str] = Counter()
        resolve = None if base is None else base.resolve
        gold = read_placed(data, resolve=resolve, losses=losses)
        return cls(
            gold=[replace(item, doc=detokenize(item.doc)) for item in gold] if natural else gold,
            other=None if compare is None else read_placed([compare], resolve=resolve, losses=losses, predicted=True),
            context=gather(kb=base, redirects=redirects, seen=seen),
            kb=base,
            match=Match.WEAK if weak else Match.STRONG,
            losses=losses,
        )

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """Say what was lost in reading."""
        return tuple(Warned(what, count, "reading the files") for what, count in self.losses.items())

    def warned(self, report: Report) -> Report:
        """Add to a report what was lost in reading."""
        return replace(report, warnings=report.warnings + self.warnings)


def kb_of(model: Path | None, kb: Path | None) -> Path | None:
    """Say which knowledge base is meant: the one given, else that of the model, else none."""
    from parlink.checkpoint.folder import own_kb, packaged_model

    return kb or own_kb(packaged_model() if model is None else model)


def opened_kb(folder: Path) -> KnowledgeBase:
    """Open a knowledge base; importing it takes longer than scoring a file of predictions."""
    from parlink.kb import KnowledgeBase

    return KnowledgeBase.open(folder)


def predicted_report(setup: Evaluation, predictions: Path, conditions: Sequence[Condition]) -> Report:
    """Score a file of predictions, under the condition that was named or that the file itself names."""
    if len(conditions) > 1:
        raise ParlinkError("--predictions were made under one condition; give --condition once at most")
    resolve = None if setup.kb is None else setup.kb.resolve
    predicted = read_placed([predictions], resolve=resolve, losses=setup.losses, predicted=True)
    condition = conditions[0] if conditions else stated_condition(item.doc for item in predicted)
    rules = Rules(setup.match, condition)
    return setup.warned(score(setup.gold, predicted, rules=rules, context=setup.context, other=setup.other))


def linked_reports(
    setup: Evaluation,
    model: Path | None,
    conditions: Sequence[Condition],
    *,
    options: LinkOptions,
    surfaces: Path | None,
    save: Path | None,
) -> list[Report]:
    """Link the gold documents with a model under each condition, and score the links."""
    from parlink.evaluation.run import evaluate
    from parlink.kb.surface_table import SurfaceTable
    from parlink.linking.linker import Linker

    if save is not None and len(conditions) > 1:
        raise ParlinkError("--save-predictions wants one --condition; run parlink once for each")
    linker = Linker.load(model, kb=setup.kb)
    table = None if surfaces is None else SurfaceTable.load(surfaces)
    reports = []
    for condition in conditions:
        with document_bar(2 * len(setup.gold), f"linking, {condition}") as progress:
            result = evaluate(
                linker,
                setup.gold,
                condition=condition,
                options=options,
                match=setup.match,
                context=setup.context,
                surfaces=table,
                other=setup.other,
                progress=progress,
            )
        if save is not None:
            jsonl.write(save, (stating_condition(doc, condition) for doc in result.predicted))
        reports.append(setup.warned(result.report))
    return reports


def print_reports(reports: Sequence[Report], *, html: Path | None, as_json: bool, title: str) -> None:
    """Print tables or lines of JSON, and write the page."""
    for report in reports:
        if as_json:
            sys.stdout.buffer.write(msgspec.json.encode(to_json(report)) + b"\n")
        else:
            show_report(report, console=Console())
    sys.stdout.buffer.flush()
    if html is not None:
        with files.written(html) as file:
            file.write(to_html(reports, title=title).encode())
