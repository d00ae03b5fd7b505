"""Choose the weights of a score's parts, since every candidate carries them: language model, classifier, prior."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from parlink.config import PRIOR_FLOOR, ScoreWeights
from parlink.evaluation.counting import DEFAULT_RULES, Rules, entities, linked_mentions
from parlink.evaluation.matching import Annotation
from parlink.evaluation.proposals import links_above
from parlink.types import Candidate, Document, Link

_MIXES = ((1.0, 0.0), (1.0, 0.25), (1.0, 0.5), (1.0, 1.0), (0.5, 1.0), (0.25, 1.0), (0.0, 1.0))  # lm, classifier
_PRIORS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)


def choose_weights(
    gold: Sequence[Document],
    predicted: Sequence[Document],
    *,
    threshold: float,
    current: ScoreWeights,
    rules: Rules = DEFAULT_RULES,
) -> ScoreWeights:
    """Choose the weights that make the most links right, at one detection threshold; ties go to the current ones.

    Which spans are kept does not depend on the weights, so this maximizes linking F1. A link that is NIL stays so:
    the parts of NIL's own score are not among the candidates.
    """
    rows = [
        (link, set(entities(linked_mentions(own))))
        for own, found in zip(gold, predicted, strict=True)
        for link in links_above(own, found, threshold, rules)
        if link.title is not None and link.candidates
    ]
    if not rows:
        return current
    widest = max(len(link.candidates) for link, _ in rows)
    parts = np.full((len(rows), widest, 3), np.nan)  # (links, candidates, parts)
    right = np.zeros((len(rows), widest), dtype=bool)
    for row, (link, wanted) in enumerate(rows):
        for column, candidate in enumerate(link.candidates):
            parts[row, column] = _parts(candidate)
            right[row, column] = Annotation(link.span, candidate.title) in wanted
    grid = [ScoreWeights(lm=lm, classifier=own, prior=prior) for (lm, own), prior in product(_MIXES, _PRIORS)]
    return max([current, *grid], key=lambda weights: _right_links(parts, right, weights))


def reweight(doc: Document, weights: ScoreWeights) -> Document:
    """Rank the candidates of every link again by other weights of the parts of their scores."""
    return replace(doc, links=tuple(_reweight_link(link, weights) for link in doc.links))


def weighted_total(candidate: Candidate, weights: ScoreWeights) -> float:
    """Add up the parts of a candidate's score, as `linking.scoring.total` does."""
    lm, classifier, log_prior = _parts(candidate)
    return weights.lm * lm + weights.classifier * classifier + weights.prior * log_prior


def _parts(candidate: Candidate) -> tuple[float, float, float]:
    return candidate.lm or 0.0, candidate.classifier or 0.0, math.log(max(candidate.prior or 0.0, PRIOR_FLOOR))


def _right_links(parts: NDArray[np.float64], right: NDArray[np.bool_], weights: ScoreWeights) -> int:
    totals = parts @ np.array([weights.lm, weights.classifier, weights.prior])
    best = np.where(np.isnan(totals), -np.inf, totals).argmax(1)
    return int(right[np.arange(len(right)), best].sum())


def _reweight_link(link: Link, weights: ScoreWeights) -> Link:
    if link.title is None or not link.candidates:
        return link
    scored = [replace(candidate, score=weighted_total(candidate, weights)) for candidate in link.candidates]
    ranked = tuple(sorted(scored, key=lambda candidate: -(candidate.score or 0.0)))
    return replace(link, title=ranked[0].title, id=ranked[0].id, url=ranked[0].url, candidates=ranked)
