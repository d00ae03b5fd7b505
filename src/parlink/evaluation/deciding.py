"""Fit the decision: when a link is made, by the probability that it is right, over several datasets.

Datasets differ in what they annotate, so each counts the same, whatever its size. What is reported of a document was
fitted on others: folds go by text, as datasets may share texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar
from zlib import crc32

import numpy as np

from parlink.decision_config import FEATURES, Decision, Regression
from parlink.errors import ParlinkError
from parlink.evaluation.counting import entity, linked_mentions
from parlink.evaluation.curves import Reliability, reliability
from parlink.evaluation.metrics import Counts, Scores, scores
from parlink.evaluation.regression import Floats, Line, Quadratic, fit_logistic, fit_quadratic
from parlink.linking.features import Describe, LinkedBy, features_of, know_no_entity, know_no_links
from parlink.linking.overlaps import resolve_overlaps
from parlink.linking.surroundings import NOTHING_AROUND, survey
from parlink.types import Document, Link

FOLDS = 5
PROPOSALS = -4.0  # log-odds of a start from which spans are looked at
_SIZE = 1000.0  # links that a dataset counts for
_CUTS = tuple(step / 50 for step in range(1, 50))


@dataclass(frozen=True, slots=True)
class DecisionSet:
    """A dataset, its documents linked as the decision will see them."""

    name: str
    gold: Sequence[Document]
    proposed: Sequence[Document]  # all spans that may be mentions, overlaps kept
    chosen: Sequence[Document]  # the gold spans given


@dataclass(frozen=True, slots=True)
class SetFigures:
    """What the decision gives on a dataset, fitted on other documents."""

    name: str
    scores: Scores
    reliability: Reliability  # of the links that are made
    given: Reliability  # of links of given spans


@dataclass(frozen=True, slots=True)
class FittedDecision:
    """The decision, fitted on everything, and what it gives out of fold."""

    decision: Decision
    sets: tuple[SetFigures, ...]


@dataclass(frozen=True, slots=True)
class _Rows:
    """The links of a document, their features, and which are right."""

    links: Sequence[Link]
    features: Floats  # (links, features)
    right: Floats  # (links,) 0 or 1
    wanted: int  # gold mentions of the document
    fold: int


_Table = Sequence[_Rows]  # of the documents of a dataset
Fitted = TypeVar("Fitted", covariant=True)


class _Fit(Protocol[Fitted]):
    def __call__(self, features: Floats, right: Floats, *, weights: Floats) -> Fitted: ...


def fit_decision(
    sets: Sequence[DecisionSet], *, linked_by: LinkedBy = know_no_links, describe: Describe = know_no_entity
) -> FittedDecision:
    """Fit both regressions and choose the least confidence, by the mean of the datasets' linking F1."""
    found = [_tabulate(each.gold, each.proposed, linked_by, describe) for each in sets]
    given = [_tabulate(each.gold, each.chosen, linked_by, describe) for each in sets]
    if not any(len(rows.links) for table in found for rows in table):
        raise ParlinkError("no link with a scored candidate to fit the decision on; tune on data that has some")
    lines = [_fit(found, fit_quadratic, without=fold) for fold in range(FOLDS)]
    given_lines = [_fit(given, fit_logistic, without=fold) for fold in range(FOLDS)]
    least = max(_CUTS, key=lambda cut: float(np.mean([scores(_count(table, lines, cut)).f1 for table in found])))
    figures = tuple(
        SetFigures(
            name=each.name,
            scores=scores(_count(links, lines, least)),
            reliability=reliability([pair for rows in links for pair in _make_links(rows, lines, least)]),
            given=reliability([pair for rows in spans for pair in _judge(rows, given_lines)]),
        )
        for each, links, spans in zip(sets, found, given, strict=True)
    )
    decision = Decision(
        found=_name_pairs(_fit(found, fit_quadratic)),
        given=_name_slopes(_fit(given, fit_logistic)),
        min_confidence=least,
        proposal_threshold=PROPOSALS,
    )
    return FittedDecision(decision, figures)


def _tabulate(
    gold: Sequence[Document], predicted: Sequence[Document], linked_by: LinkedBy, describe: Describe
) -> list[_Rows]:
    rows = []
    for wanted, doc in zip(gold, predicted, strict=True):
        looked_at = [link for link in doc.links if _is_looked_at(link, doc.text, linked_by)]
        around = survey(doc.text, [x.span for x in looked_at], [x.mention_probability for x in looked_at])
        judged = [(x, a) for x, a in zip(looked_at, around, strict=True) if x.title is not None and x.candidates]
        links = [link for link, _ in judged]
        titles = {link.span: entity(link) for link in linked_mentions(wanted)}
        values = [
            features_of(
                link, doc.text, linked_by, NOTHING_AROUND if link.source == "given" else about, describe=describe
            )
            for link, about in judged
        ]
        features = np.array(values, np.float64).reshape(-1, len(FEATURES))
        right = np.array([float(titles.get(link.span) == link.title) for link in links])
        rows.append(_Rows(links, features, right, len(titles), crc32(doc.text.strip().encode()) % FOLDS))
    return rows


def _is_looked_at(link: Link, text: str, linked_by: LinkedBy) -> bool:
    """Whether a span counts in the fit: one above the threshold, or a name of one's own, looked for anywhere."""
    if link.mention_logit is None or link.mention_logit > PROPOSALS:
        return True
    return link.source == "dictionary" and linked_by(text[link.span.start : link.span.end]) is None


def _fit(tables: Sequence[_Table], fit: _Fit[Fitted], *, without: int | None = None) -> Fitted:
    """Fit on all documents but those of a fold; every dataset counts the same."""
    kept = [[rows for rows in table if rows.fold != without and len(rows.links)] for table in tables]
    sizes = [sum(len(rows.links) for rows in table) for table in kept]
    weights = [np.full(size, _SIZE / size) for size in sizes if size]
    together = [rows for table in kept for rows in table]
    features = np.concatenate([np.zeros((1, len(FEATURES))), *(rows.features for rows in together)])
    right = np.concatenate([np.zeros(1), *(rows.right for rows in together)])
    return fit(
        features, right, weights=np.concatenate([np.full(1, 1e-9), *weights])
    )  # the first row: there may be no other


def _judge(rows: _Rows, lines: Sequence[Line | Quadratic]) -> list[tuple[float, bool]]:
    """The probability of each link of a document, by what was fitted without it, and whether it is right."""
    probabilities = lines[rows.fold].probability(rows.features)
    return list(zip(probabilities.tolist(), (rows.right > 0.5).tolist(), strict=True))


def _make_links(rows: _Rows, lines: Sequence[Line | Quadratic], least: float) -> list[tuple[float, bool]]:
    """The links that are made of a document: those that are probable enough, overlaps resolved as the linker does."""
    judged = _judge(rows, lines)
    enough = [at for at, (probability, _) in enumerate(judged) if probability >= least]
    spans, weights = [rows.links[at].span for at in enough], [judged[at][0] for at in enough]
    return [judged[at] for at in resolve_overlaps(enough, spans, weights)]


def _count(table: _Table, lines: Sequence[Line | Quadratic], least: float) -> Counts:
    made = [pair for rows in table for pair in _make_links(rows, lines, least)]
    tp = sum(right for _, right in made)
    return Counts(tp, len(made) - tp, sum(rows.wanted for rows in table) - tp)


def _name_slopes(line: Line) -> Regression:
    return Regression(bias=line.bias, weights=dict(zip(FEATURES, line.slopes.tolist(), strict=True)))


def _name_pairs(fitted: Quadratic) -> Regression:
    pairs = {
        name: {other: weight for other, weight in zip(FEATURES[at:], row[at:].tolist(), strict=True) if weight}
        for at, (name, row) in enumerate(zip(FEATURES, fitted.pairs, strict=True))
    }
    linear = _name_slopes(fitted.line)
    return Regression(bias=linear.bias, weights=linear.weights, pairs={name: row for name, row in pairs.items() if row})
