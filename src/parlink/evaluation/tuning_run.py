"""Tuning as a command asks for it: link the documents of files, choose by the links, return what was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from parlink.config import LinkOptions, Tuned
from parlink.errors import ParlinkError
from parlink.evaluation.conditions import Condition
from parlink.evaluation.context import apply_redirects
from parlink.evaluation.counting import Rules
from parlink.evaluation.deciding import PROPOSALS, DecisionSet, FittedDecision, fit_decision
from parlink.evaluation.pairing import EvalWarning, LocatedDocument, check_gold, failures
from parlink.evaluation.setup import Bar, Setup, no_bar
from parlink.evaluation.thresholds import LOWEST
from parlink.evaluation.tuning import Tuning, tune
from parlink.evaluation.weighting import FittedWeights, fit_weights, rescore, take_weights
from parlink.linking.coherence import LinkGraph
from parlink.linking.features import know_no_entity, know_no_links
from parlink.load_options import DEFAULT_LOAD, LoadOptions
from parlink.types import Document

if TYPE_CHECKING:  # torch, which they need, takes a second to import
    from parlink.kb import KnowledgeBase
    from parlink.kb.surface_table import SurfaceTable
    from parlink.linking.linker import Linker

DEFAULT_OPTIONS = LinkOptions()


@dataclass(frozen=True, slots=True)
class DecisionTuning:
    """The values with a fitted decision, and what they were fitted by."""

    tuned: Tuned
    decided: FittedDecision
    weights: FittedWeights | None  # None: they were not to be fitted, or could not


def tune_model(
    setup: Setup,
    model: Path,
    condition: Condition,
    *,
    surfaces: Path | None = None,
    weights: bool = False,
    options: LinkOptions = DEFAULT_OPTIONS,
    load: LoadOptions = DEFAULT_LOAD,
    bar: Bar = no_bar,
) -> tuple[Tuning, tuple[EvalWarning, ...]]:
    """Link the documents once at a low threshold, and choose everything else from that; with what is odd in them."""
    from parlink.kb.surface_table import SurfaceTable
    from parlink.linking.keep import keep
    from parlink.linking.linker import Linker

    warnings = setup.warnings + check_gold(setup.gold)
    with bar(None, "opening the model"):
        linker = keep(Linker.load(model, kb=setup.kb, device=load.device, precision=load.precision))
    _refuse_nil(linker, model, weights=weights)
    table = None if surfaces is None else SurfaceTable.load(surfaces)
    read = _read_all(options) if weights else options
    data = _propose(setup, linker, condition, surfaces=table, options=read, bar=bar)
    located = (LocatedDocument(doc, item.place) for doc, item in zip(data.proposed, setup.gold, strict=True))
    tuning = tune(
        data.gold,
        data.proposed,
        tuned=_take_options(linker.tuned, options),
        weights=weights,
        graph=_open_graph(setup.kb),
        rules=Rules(condition=condition),
    )
    return tuning, warnings + failures(located)


def tune_decision(
    setups: Mapping[str, Setup],
    model: Path,
    *,
    weights: bool = False,
    options: LinkOptions = DEFAULT_OPTIONS,
    load: LoadOptions = DEFAULT_LOAD,
    bar: Bar = no_bar,
) -> DecisionTuning:
    """Fit the decision on several datasets with candidates from the knowledge base, and the weights too if asked.

    Of a model with a shortlist all names are read for the weights, and the decision sees what it will leave of them.
    """
    from parlink.linking.keep import keep
    from parlink.linking.linker import Linker

    kb = next(iter(setups.values())).kb
    with bar(None, "opening the model"):
        linker = keep(Linker.load(model, kb=kb, device=load.device, precision=load.precision))
    _refuse_nil(linker, model, weights=weights)
    read = _read_all(options) if weights else options
    sets = [
        _propose(setup, linker, Condition.KB, options=read, chosen=True, name=name, bar=bar)
        for name, setup in setups.items()
    ]
    tuned, graph, fitted = _take_options(linker.tuned, options), _open_graph(kb), None
    if weights:
        gold, chosen = ([doc for each in sets for doc in getattr(each, name)] for name in ("gold", "chosen"))
        sizes = [max(sum(len(doc.links) for doc in each.chosen), 1) for each in sets]
        mean = sum(sizes) / len(sizes)  # so that every dataset counts the same
        counts = [mean / size for each, size in zip(sets, sizes, strict=True) for _ in each.gold]
        fitted = fit_weights(gold, chosen, current=tuned.weights, graph=graph, counts=counts)
        proposed = (doc for each in sets for doc in each.proposed)
        tuned = take_weights(tuned, fitted.weights if fitted else tuned.weights, proposed)
        sets = [_rescore_set(each, tuned, graph) for each in sets]
    view = None if kb is None else kb.snapshot()
    linked_by, describe = (know_no_links, know_no_entity) if view is None else (view.linked, view.entity)
    decided = fit_decision(sets, linked_by=linked_by, describe=describe)
    return DecisionTuning(msgspec.structs.replace(tuned, decision=decided.decision), decided, fitted)


def _propose(
    setup: Setup,
    linker: Linker,
    condition: Condition,
    *,
    options: LinkOptions,
    surfaces: SurfaceTable | None = None,
    chosen: bool = False,
    name: str = "",
    bar: Bar,
) -> DecisionSet:
    """Link whatever might be a mention and, if they are `chosen`, the gold spans; titles through the redirects."""
    from parlink.evaluation.run import Evaluator

    gold = [item.doc for item in setup.gold]
    evaluator = Evaluator.about(gold, linker=linker, condition=condition, surfaces=surfaces, options=options)
    proposed = partial(evaluator.proposals, threshold=PROPOSALS if chosen else LOWEST)
    answers: list[list[Document]] = [[], []]
    with bar((1 + chosen) * len(gold), f"linking {name or condition}") as progress:
        for asked, listed in zip((proposed, evaluator.choices)[: 1 + chosen], answers, strict=False):
            for doc in asked():
                listed.append(doc)
                if progress is not None:
                    progress(1)
    resolved = ([apply_redirects(doc, setup.context.redirects) for doc in docs] for docs in (gold, *answers))
    return DecisionSet(name, *resolved)


def _rescore_set(data: DecisionSet, tuned: Tuned, graph: LinkGraph | None) -> DecisionSet:
    proposed, chosen = ([rescore(doc, tuned, graph=graph) for doc in docs] for docs in (data.proposed, data.chosen))
    return replace(data, proposed=proposed, chosen=chosen)


def _read_all(options: LinkOptions) -> LinkOptions:
    """The same options with all parts and without a shortlist: what is guessed has no weight that could be fitted."""
    return msgspec.structs.replace(options, names=0, parts="all")


def _take_options(tuned: Tuned, options: LinkOptions) -> Tuned:
    """Write into the tuned values which proposals they are tuned for, and how many names are read."""
    names = ("document_names", "document_mentions", "dictionary", "least_linked")
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    return msgspec.structs.replace(tuned, **given, shortlist=options.resolve(tuned).shortlist)


def _open_graph(kb: KnowledgeBase | None) -> LinkGraph | None:
    view = None if kb is None else kb.snapshot()
    return view if view is not None and view.has_links else None


def _refuse_nil(linker: Linker, model: Path, *, weights: bool) -> None:
    if weights and linker.network.config.nil:
        raise ParlinkError(
            f"{model}: is trained with nil = true, and --weights would weigh its NIL by nothing; leave it out"
        )
