"""Confidence: a logistic regression on four features of a link, fitted on validation data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parlink.decision_config import Confidence, confidence_features
from parlink.errors import ParlinkError
from parlink.evaluation.counting import DEFAULT_RULES, Rules, asserted_links, entities, linked_mentions
from parlink.evaluation.curves import Reliability, reliability
from parlink.evaluation.matching import one_to_one
from parlink.evaluation.regression import Floats, fit_logistic, logistic
from parlink.types import Document, Link


def fit_confidence(
    gold: Sequence[Document], predicted: Sequence[Document], *, rules: Rules = DEFAULT_RULES
) -> Confidence:
    """Fit the probability that a link is right on (detection log-odds, best total, margin to the second, log prior)."""
    tables = [_examples(wanted, found, rules) for wanted, found in zip(gold, predicted, strict=True)]
    if not any(len(features) for features, _ in tables):
        raise ParlinkError("no link with a scored candidate to fit the confidence on; tune on data that has some")
    return fit(np.concatenate([x for x, _ in tables]), np.concatenate([y for _, y in tables]))


def cross_validate(
    gold: Sequence[Document], predicted: Sequence[Document], *, folds: int = 5, rules: Rules = DEFAULT_RULES
) -> Reliability | None:
    """Judge the confidence of each link by a regression that has not seen its document; None with too few documents."""
    tables = [_examples(wanted, found, rules) for wanted, found in zip(gold, predicted, strict=True)]
    tables = [table for table in tables if len(table[0])]
    if len(tables) < folds:
        return None
    judgments: list[tuple[float, bool]] = []
    for fold in range(folds):
        others = [table for index, table in enumerate(tables) if index % folds != fold]
        fitted = fit(np.concatenate([x for x, _ in others]), np.concatenate([y for _, y in others]))
        for features, right in tables[fold::folds]:
            probabilities = probability(fitted, features)
            judgments += zip(probabilities.tolist(), (right > 0.5).tolist(), strict=True)
    return reliability(judgments)


def fit(features: Floats, right: Floats) -> Confidence:
    """Fit the regression; `features` (links, 4), `right` (links,) 0 or 1."""
    line = fit_logistic(features, right)
    detection, total, margin, log_prior = line.slopes.tolist()
    return Confidence(bias=line.bias, mention_logit=detection, total=total, margin=margin, log_prior=log_prior)


def probability(confidence: Confidence, features: Floats) -> Floats:
    """Evaluate the regression on rows of features."""
    slopes = np.array([confidence.mention_logit, confidence.total, confidence.margin, confidence.log_prior])
    return logistic(confidence.bias + features @ slopes)


def _examples(gold: Document, predicted: Document, rules: Rules) -> tuple[Floats, Floats]:
    links = [link for link in asserted_links(predicted, rules) if link.title is not None and link.candidates]
    right = {j for _, j in one_to_one(entities(linked_mentions(gold)), entities(links), rules.match)}
    rows = np.array([_features(link) for link in links], dtype=np.float64).reshape(-1, 4)
    return rows, np.array([float(j in right) for j in range(len(links))])


def _features(link: Link) -> tuple[float, float, float, float]:
    best = link.candidates[0]
    scores = [candidate.score or 0.0 for candidate in link.candidates]
    margin = scores[0] - scores[1] if len(scores) > 1 else None
    return confidence_features(mention_logit=link.mention_logit, total=scores[0], margin=margin, prior=best.prior)
