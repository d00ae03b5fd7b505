"""An evaluation as a command asks for it: files in, reports out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from parlink.config import LinkOptions
from parlink.data import jsonl
from parlink.errors import ParlinkError
from parlink.evaluation.conditions import Condition, condition_of, state_condition
from parlink.evaluation.context import EvalContext, gather
from parlink.evaluation.counting import Rules
from parlink.evaluation.matching import Match
from parlink.evaluation.pairing import EvalWarning, LocatedDocument, read_documents
from parlink.evaluation.scoring import Report, score
from parlink.load_options import DEFAULT_LOAD, LoadOptions
from parlink.text.detokenize import detokenize

if TYPE_CHECKING:  # torch, which they need, takes longer to import than a file of predictions to score
    from parlink.kb import KnowledgeBase

Bar = Callable[[int | None, str], AbstractContextManager[Callable[[int], None] | None]]  # documents, what is done


def no_bar(_total: int | None, _what: str) -> AbstractContextManager[None]:
    """Show nothing."""
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Setup:
    """What is scored against, and how."""

    gold: Sequence[LocatedDocument]
    other: Sequence[LocatedDocument] | None  # predictions of another system, to compare with
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
    ) -> Setup:
        """Read everything that was named; `natural` detokenizes the gold texts."""
        base = None if kb is None else _open_kb(kb)
        losses: Counter[str] = Counter()
        resolve = None if base is None else base.resolve
        gold = read_documents(data, resolve=resolve, losses=losses)
        theirs = [] if compare is None else [compare]
        return cls(
            gold=[replace(item, doc=detokenize(item.doc)) for item in gold] if natural else gold,
            other=read_documents(theirs, resolve=resolve, losses=losses, predicted=True) or None,
            context=gather(kb=base, redirects=redirects, seen=seen),
            kb=base,
            match=Match.WEAK if weak else Match.STRONG,
            losses=losses,
        )

    @property
    def warnings(self) -> tuple[EvalWarning, ...]:
        """Say what was lost in reading."""
        return tuple(EvalWarning(what, count) for what, count in self.losses.items())


def own_kb_or(kb: Path | None, *, model: Path | None) -> Path | None:
    """Return the knowledge base that is meant: the one given, else that of the model, else none."""
    from parlink.checkpoint.config_file import own_kb, packaged_model

    return kb or own_kb(packaged_model() if model is None else model)


def score_predictions(setup: Setup, predictions: Path, conditions: Sequence[Condition]) -> Report:
    """Score a file of predictions, under the condition that was named or that the file itself names."""
    if len(conditions) > 1:
        raise ParlinkError("--predictions were made under one condition; give --condition once at most")
    resolve = None if setup.kb is None else setup.kb.resolve
    predicted = read_documents([predictions], resolve=resolve, losses=setup.losses, predicted=True)
    condition = conditions[0] if conditions else condition_of(item.doc for item in predicted)
    rules = Rules(setup.match, condition)
    return _warn(setup, score(setup.gold, predicted, rules=rules, context=setup.context, other=setup.other))


def score_model(
    setup: Setup,
    model: Path | None,
    conditions: Sequence[Condition],
    *,
    options: LinkOptions,
    surfaces: Path | None = None,
    save: Path | None = None,
    load: LoadOptions = DEFAULT_LOAD,
    bar: Bar = no_bar,
) -> list[Report]:
    """Link the gold documents with a model under each condition, and score the links."""
    from parlink.evaluation.run import evaluate
    from parlink.kb.surface_table import SurfaceTable
    from parlink.linking.keep import keep
    from parlink.linking.linker import Linker

    if save is not None and len(conditions) > 1:
        raise ParlinkError("--save-predictions wants one --condition; run parlink once for each")
    with bar(None, "opening the model"):
        linker = keep(Linker.load(model, kb=setup.kb, device=load.device, precision=load.precision))
    table = None if surfaces is None else SurfaceTable.load(surfaces)
    reports = []
    for condition in conditions:
        with bar(2 * len(setup.gold), f"linking, {condition}") as progress:
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
            jsonl.write(save, (state_condition(doc, condition) for doc in result.predicted))
        reports.append(_warn(setup, result.report))
    return reports


def _warn(setup: Setup, report: Report) -> Report:
    """Add to a report what was lost in reading."""
    return replace(report, warnings=report.warnings + setup.warnings)


def _open_kb(folder: Path) -> KnowledgeBase:
    from parlink.kb import KnowledgeBase

    return KnowledgeBase.open(folder)
