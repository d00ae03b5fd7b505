"""When a link is made: regressions on how sure each step of linking was, whose value is the probability to be right."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from operator import mul

import msgspec

from parlink.errors import ConfigError
from parlink.settings import Fraction

PRIOR_FLOOR = 1e-4  # of a candidate that was never seen under the surface


def confidence_features(
    *, mention_logit: float | None, total: float, margin: float | None, prior: float | None
) -> tuple[float, float, float, float]:
    """What the confidence of a link is computed from."""
    log_prior = math.log(max(prior or 0.0, PRIOR_FLOOR))
    return (
        10.0 if mention_logit is None else mention_logit,
        total,
        10.0 if margin is None else min(margin, 10.0),
        log_prior,
    )


class Confidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A logistic regression whose value is the probability that a link is right."""

    bias: float
    mention_logit: float
    total: float
    margin: float
    log_prior: float

    def probability(
        self, *, mention_logit: float | None, total: float, margin: float | None, prior: float | None
    ) -> float:
        """Evaluate the regression; a given span counts as surely detected, a lone candidate as far ahead."""
        features = confidence_features(mention_logit=mention_logit, total=total, margin=margin, prior=prior)
        weights = (self.mention_logit, self.total, self.margin, self.log_prior)
        log_odds = self.bias + sum(w * x for w, x in zip(weights, features, strict=True))
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, log_odds))))


# What the decision is made by, besides the sources of mentions and candidates: see linking/features.py.
FEATURES = (
    "start",  # log-odds that a mention starts
    "end",  # log-probability of its end
    "dictionary",  # proposed by the dictionary
    "repeated",  # proposed by the document
    "total",  # score of the best candidate
    "margin",  # to the second
    "share",  # of the best in the softmax of the scores
    "lone",  # there is no second
    "log_prior",
    "left_out",  # share of the prior that candidates have which were not scored
    "coherence",
    "candidates",  # log of how many
    "linked",  # log-odds that the surface is a link where it occurs
    "linked_guess",  # which is guessed by how the surface looks
    "title_is_surface",
    "document",  # the best candidate is that of a longer name
    "lower_case",
    "words",  # log of how many the surface has
    "longer",  # probability of a longer mention that the span is part of
    "shorter",  # of a mention that is part of it
    "in_title",  # share of the surface's words that the title has
    "beyond",  # words that the title has and the surface has not
    "person",  # what the best candidate is, if the knowledge base says it is one of these
    "place",
    "organization",
    "upper",  # the surface is written in capitals
    "capital_before",  # the word before it begins with a capital
    "capital_after",
    "begins",  # a sentence, a line or a quotation begins with it
)


Row = tuple[float, ...]  # a number for each feature


class Regression(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """A logistic regression on features by name, and on products of two; those it does not name count nothing."""

    bias: float
    weights: dict[str, float]
    pairs: dict[str, dict[str, float]] = {}

    def __post_init__(self) -> None:
        named = self.weights.keys() | self.pairs.keys() | {name for row in self.pairs.values() for name in row}
        if unknown := sorted(named - set(FEATURES)):
            raise ConfigError(f"a regression knows no feature {unknown[0]!r}; known are {', '.join(FEATURES)}")

    def shares(self, features: Sequence[float]) -> dict[str, float]:
        """Say how much each feature adds to the log-odds, in the order of `FEATURES`; of a product each adds half."""
        values = dict(zip(FEATURES, features, strict=True))
        told = {name: self.weights.get(name, 0.0) * value for name, value in values.items()}
        for name, row in self.pairs.items():
            for other, weight in row.items():
                half = 0.5 * weight * values[name] * values[other]
                told[name] += half
                told[other] += half
        return told

    def probability(self, features: Sequence[float]) -> float:
        """Evaluate the regression on values in the order of `FEATURES`."""
        alone, products = self._rows
        log_odds = self.bias + sum(map(mul, alone, features))
        for value, row in zip(features, products, strict=True):
            if value and row:
                log_odds += value * sum(map(mul, row, features))
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, log_odds))))

    @cached_property
    def _rows(self) -> tuple[Row, list[Row]]:
        """The weights of the features, and for each feature those of its products, in the order of `FEATURES`."""
        return _row(self.weights), [_row(self.pairs[name]) if name in self.pairs else () for name in FEATURES]


def _row(weights: Mapping[str, float]) -> Row:
    return tuple(weights.get(name, 0.0) for name in FEATURES)


class Decision(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How links are decided: by the probability that each is right, of which there must be enough."""

    found: Regression  # for mentions that are found
    given: Regression  # for those that come with the document
    min_confidence: Fraction  # of a link to a mention that is found; one that is given is always linked
    proposal_threshold: float  # log-odds of a start from which a span is looked at
