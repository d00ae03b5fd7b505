"""A report: the scores of predictions against gold, and everything needed to read them rightly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from parlink.evaluation import counting, curves, resampling
from parlink.evaluation.conditions import EXPLANATIONS, Condition, condition_of
from parlink.evaluation.context import NO_CONTEXT, EvalContext, apply_redirects
from parlink.evaluation.counting import DEFAULT_RULES, Rules, entity, linked_mentions
from parlink.evaluation.errors import LinkError, link_errors
from parlink.evaluation.kinds import KindSplit, split_kinds
from parlink.evaluation.matching import Match
from parlink.evaluation.metrics import Averages, Counts, averages, total
from parlink.evaluation.pairing import EvalWarning, LocatedDocument, PairedDocuments, add_other, locate, pair
from parlink.types import Document


@dataclass(frozen=True, slots=True)
class Task:
    """The scores of one task."""

    inkb: Averages
    counts: Counts  # InKB, over all documents
    intervals: resampling.Intervals  # InKB
    with_nil: Averages | None = None

    @property
    def is_empty(self) -> bool:
        """Whether neither side has anything to compare, so that the scores say nothing."""
        return self.counts == Counts()


@dataclass(frozen=True, slots=True)
class Share:
    """Some of all, such as gold mentions whose entity is in the knowledge base."""

    part: int
    whole: int

    @property
    def value(self) -> float:
        """Return the share; of nothing it is not a number."""
        return self.part / self.whole if self.whole else math.nan

    def __str__(self) -> str:
        return f"{self.value:.2%} ({self.part:,} of {self.whole:,})" if self.whole else "none (0 of 0)"


@dataclass(frozen=True, slots=True)
class SeenSplit:
    """Linking InKB where the entity occurs in the training data, and where it does not."""

    source: str
    seen: Averages
    unseen: Averages
    seen_counts: Counts
    unseen_counts: Counts


@dataclass(frozen=True, slots=True)
class Report:
    """Scores and what they rest on."""

    condition: Condition | None
    match: Match
    kb: str | None
    redirects: str | None  # where redirects were read; None: titles were compared as they are
    linking: Task
    detection: Task
    disambiguation: Task
    disambiguation_spans: str  # whose spans were disambiguated
    linked: int  # gold mentions with an entity
    nil: int  # gold mentions without
    predicted: int  # links that the InKB score counts
    without_candidates: int  # of these, detections in given-strict that had no candidates, wrong by definition
    candidate_recall: Share | None
    coverage: Share | None  # gold mentions whose entity is in the KB
    seen: SeenSplit | None
    kinds: KindSplit | None  # names apart from common nouns, if gold tells which is which
    comparison: resampling.Comparison | None  # with another system, on linking
    confidence_curve: tuple[curves.CurvePoint, ...]
    reliability: curves.Reliability | None
    errors: tuple[LinkError, ...]
    warnings: tuple[EvalWarning, ...]
    documents: tuple[Document, ...]  # gold, redirects applied

    @property
    def tasks(self) -> dict[str, Task]:
        """Return the tasks by name."""
        return {"linking": self.linking, "detection": self.detection, "disambiguation": self.disambiguation}

    @property
    def explanation(self) -> str:
        """Say where candidates came from and what follows for the score."""
        return "Predictions from a file." if self.condition is None else EXPLANATIONS[self.condition]


def score(
    gold: Sequence[Document | LocatedDocument],
    predicted: Sequence[Document | LocatedDocument],
    *,
    rules: Rules = DEFAULT_RULES,
    context: EvalContext = NO_CONTEXT,
    other: Sequence[Document | LocatedDocument] | None = None,
) -> Report:
    """Score anyone's predictions; they are matched to gold by id, or by order where ids are missing.

    `other` are another system's predictions for the same documents, to compare with.
    """
    items = locate(gold, "gold")
    paired = pair(items, locate(predicted, "predicted"))
    paired = add_other(paired, items, None if other is None else locate(other, "other"))
    return report(paired, rules=rules, context=context)


def report(
    paired: PairedDocuments,
    *,
    rules: Rules = DEFAULT_RULES,
    context: EvalContext = NO_CONTEXT,
    chosen: Sequence[Document] | None = None,
    all_candidates: bool = True,
) -> Report:
    """Score paired documents; `chosen` are answers for the gold spans, where a linker could be asked for them.

    `all_candidates`: links name every candidate that was offered, not only those that a search finished.
    """
    gold = [apply_redirects(doc, context.redirects) for doc in paired.gold]
    predicted = [apply_redirects(doc, context.redirects) for doc in paired.predicted]
    pairs = list(zip(gold, predicted, strict=True))
    answers = None if chosen is None else [apply_redirects(doc, context.redirects) for doc in chosen]
    trusted = curves.has_probabilities(predicted, rules)
    asserted = [link for doc in predicted for link in counting.asserted_links(doc, rules)]
    return Report(
        condition=rules.condition,
        match=rules.match,
        kb=context.kb,
        redirects=context.redirects.source if context.redirects else None,
        linking=_task(pairs, rules, counting.entities),
        detection=_task(pairs, rules, counting.spans),
        disambiguation=_disambiguation(pairs, answers),
        disambiguation_spans="gold spans that were predicted" if answers is None else "gold spans",
        linked=sum(len(linked_mentions(doc)) for doc in gold),
        nil=sum(len(doc.links) - len(linked_mentions(doc)) for doc in gold),
        predicted=len(asserted),
        without_candidates=sum(entity(link) is None for link in asserted),
        candidate_recall=_candidate_recall(gold, answers) if all_candidates else None,
        coverage=None if context.in_kb is None else _coverage(gold, context.in_kb),
        seen=_seen_split(pairs, rules, context),
        kinds=split_kinds(pairs, rules),
        comparison=None if paired.other is None else _comparison(pairs, paired.other, rules, context),
        confidence_curve=curves.confidence_curve(gold, predicted, rules) if trusted else (),
        reliability=curves.reliability(curves.judge(gold, predicted, rules)) if trusted else None,
        errors=tuple(e for i, (a, b) in enumerate(pairs) for e in link_errors(a, b, rules, index=i)),
        warnings=paired.warnings + _nothing_to_score(gold),
        documents=tuple(gold),
    )


def _nothing_to_score(gold: Sequence[Document]) -> tuple[EvalWarning, ...]:
    if any(linked_mentions(doc) for doc in gold):
        return ()
    what = "gold mentions with an entity: there is nothing to score, and F1 says nothing"
    return (EvalWarning(what, 0),)


SEARCHED = "search"  # the step of a candidate that a search of the whole knowledge base made up for the lack of any
Pairs = Sequence[tuple[Document, Document]]  # gold and predicted


def _task(pairs: Pairs, rules: Rules, view: counting.View) -> Task:
    by_document = [counting.inkb(gold, predicted, rules, view) for gold, predicted in pairs]
    all_mentions = [counting.with_nil(gold, predicted, rules, view) for gold, predicted in pairs]
    return Task(averages(by_document), total(by_document), resampling.intervals(by_document), averages(all_mentions))


def _disambiguation(pairs: Pairs, chosen: Sequence[Document] | None) -> Task:
    if chosen is None:
        pairs = [(_only_spans_of(gold, predicted), predicted) for gold, predicted in pairs]
    else:
        pairs = [(gold, answers) for (gold, _), answers in zip(pairs, chosen, strict=True)]
    by_document = [counting.choice(gold, answers) for gold, answers in pairs]
    return Task(averages(by_document), total(by_document), resampling.intervals(by_document))


def _only_spans_of(gold: Document, predicted: Document) -> Document:
    found = {link.span for link in predicted.links if entity(link) is not None}
    return Document(gold.text, id=gold.id, links=tuple(link for link in gold.links if link.span in found))


def _candidate_recall(gold: Iterable[Document], chosen: Sequence[Document] | None) -> Share | None:
    if chosen is None:
        return None
    held = whole = 0
    for doc, answers in zip(gold, chosen, strict=True):
        offered = {
            (link.span, one.title) for link in answers.links for one in link.candidates if one.match_type != SEARCHED
        }
        held += sum((link.span, entity(link)) in offered for link in linked_mentions(doc))
        whole += len(linked_mentions(doc))
    return Share(held, whole)


def _coverage(gold: Iterable[Document], in_kb: Callable[[str], bool]) -> Share:
    titles = [link.title for doc in gold for link in linked_mentions(doc)]
    return Share(sum(title is not None and in_kb(title) for title in titles), len(titles))


def _comparison(pairs: Pairs, other: Sequence[Document], rules: Rules, context: EvalContext) -> resampling.Comparison:
    """Compare with predictions that are scored by the rules of the condition that they state themselves."""
    theirs = Rules(rules.match, condition_of(doc for doc in other if doc.links))
    return resampling.compare(
        [counting.inkb(gold, predicted, rules) for gold, predicted in pairs],
        [
            counting.inkb(gold, apply_redirects(doc, context.redirects), theirs)
            for (gold, _), doc in zip(pairs, other, strict=True)
        ],
    )


def _seen_split(pairs: Pairs, rules: Rules, context: EvalContext) -> SeenSplit | None:
    if context.seen is None:
        return None
    resolve = context.redirects.resolve if context.redirects else str
    known = {resolve(title) for title in context.seen}
    seen = [counting.of_entities(gold, found, rules, lambda e: e in known) for gold, found in pairs]
    unseen = [counting.of_entities(gold, found, rules, lambda e: e not in known) for gold, found in pairs]
    return SeenSplit(context.seen_source, averages(seen), averages(unseen), total(seen), total(unseen))
