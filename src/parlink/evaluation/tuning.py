"""Everything that is chosen on validation data: thresholds, score weights and the confidence, from one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from parlink.config import Tuned
from parlink.evaluation.calibration import cross_validate, fit_confidence
from parlink.evaluation.counting import DEFAULT_RULES, Rules
from parlink.evaluation.curves import Reliability
from parlink.evaluation.proposals import links_above
from parlink.evaluation.thresholds import Thresholds, choose_thresholds
from parlink.evaluation.weighting import choose_weights, reweight
from parlink.types import Document, Link


@dataclass(frozen=True, slots=True)
class Tuning:
    """The chosen values, and what they were chosen by."""

    tuned: Tuned
    thresholds: Thresholds
    reliability: Reliability | None  # of the confidence, by 5-fold over documents; None with too few documents
    links: int


def tune(
    gold: Sequence[Document],
    predicted: Sequence[Document],
    *,
    tuned: Tuned,
    weights: bool = False,
    rules: Rules = DEFAULT_RULES,
) -> Tuning:
    """Choose anew what `tuned` holds; `weights` says whether the weights of the score's parts are chosen too.

    `predicted` are the same documents linked with the weights of `tuned`, at a threshold of
    `thresholds.LOWEST`, without a score threshold and with overlapping links kept.
    """
    if weights:
        first = choose_thresholds(gold, predicted, rules=rules)
        chosen = choose_weights(gold, predicted, threshold=first.threshold, current=tuned.weights, rules=rules)
        predicted = [reweight(doc, chosen) for doc in predicted]
        tuned = msgspec.structs.replace(tuned, weights=chosen)
    found = choose_thresholds(gold, predicted, rules=rules)
    kept = [_at(own, doc, found, rules) for own, doc in zip(gold, predicted, strict=True)]
    links = sum(link.title is not None for doc in kept for link in doc.links)
    confidence = fit_confidence(gold, kept, rules=rules) if links else None
    return Tuning(
        tuned=msgspec.structs.replace(
            tuned, mention_threshold=found.threshold, score_threshold=found.score_threshold, confidence=confidence
        ),
        thresholds=found,
        reliability=cross_validate(gold, kept, rules=rules),
        links=links,
    )


def _at(gold: Document, doc: Document, found: Thresholds, rules: Rules) -> Document:
    """Return the links that these thresholds make; what is below the score threshold goes."""
    kept = links_above(gold, doc, found.threshold, rules)
    return replace(doc, links=tuple(link for link in kept if _scores_enough(link, found.score_threshold)))


def _scores_enough(link: Link, least: float | None) -> bool:
    return least is None or not link.candidates or (link.candidates[0].score or 0.0) >= least
