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
from parlink.evaluation.weighting import FittedWeights, fit_weights, rescore, take_weights
from parlink.linking.coherence import LinkGraph
from parlink.types import Document, Link


@dataclass(frozen=True, slots=True)
class Tuning:
    """The chosen values, and what they were chosen by."""

    tuned: Tuned
    thresholds: Thresholds
    weights: FittedWeights | None  # None: they were not to be fitted, or could not
    reliability: Reliability | None  # of the confidence, by 5-fold over documents; None with too few documents
    links: int


def tune(
    gold: Sequence[Document],
    predicted: Sequence[Document],
    *,
    tuned: Tuned,
    weights: bool = False,
    graph: LinkGraph | None = None,
    rules: Rules = DEFAULT_RULES,
) -> Tuning:
    """Choose anew what `tuned` holds; `weights` says whether the weights of the score's parts are fitted too.

    `predicted` are the same documents linked with the weights of `tuned`, at a threshold of
    `thresholds.LOWEST`, without a score threshold and with overlapping links kept. `graph` is that of the knowledge
    base. A decision that was fitted before goes: it takes the place of the thresholds that are chosen here.
    """
    fitted = fit_weights(gold, predicted, current=tuned.weights, graph=graph) if weights else None
    if weights:
        tuned = take_weights(tuned, fitted.weights if fitted else tuned.weights, predicted)
        predicted = [rescore(doc, tuned, graph=graph) for doc in predicted]
    thresholds = choose_thresholds(gold, predicted, rules=rules)
    linked = [_link_above(wanted, doc, thresholds, rules) for wanted, doc in zip(gold, predicted, strict=True)]
    links = sum(link.title is not None for doc in linked for link in doc.links)
    confidence = fit_confidence(gold, linked, rules=rules) if links else None
    return Tuning(
        tuned=msgspec.structs.replace(
            tuned,
            mention_threshold=thresholds.threshold,
            score_threshold=thresholds.score_threshold,
            confidence=confidence,
            decision=None,
        ),
        thresholds=thresholds,
        weights=fitted,
        reliability=cross_validate(gold, linked, rules=rules),
        links=links,
    )


def _link_above(gold: Document, doc: Document, thresholds: Thresholds, rules: Rules) -> Document:
    """Return the links that these thresholds make; what is below the score threshold goes."""
    links = links_above(gold, doc, thresholds.threshold, rules)
    return replace(doc, links=tuple(link for link in links if _scores_enough(link, thresholds.score_threshold)))


def _scores_enough(link: Link, least: float | None) -> bool:
    return least is None or not link.candidates or (link.candidates[0].score or 0.0) >= least
