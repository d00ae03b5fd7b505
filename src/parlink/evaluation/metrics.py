"""From counts to precision, recall and F1: over all documents (micro), or the mean of each document's own (macro)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counts:
    """True positives, false positives and false negatives."""

    tp: int = 0
    fp: int = 0
    fn: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)


@dataclass(frozen=True, slots=True)
class Scores:
    """Precision, recall and F1, each from 0 to 1."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Averages:
    """The two ways to average over documents."""

    micro: Scores
    macro: Scores


def scores(counts: Counts) -> Scores:
    """Return precision, recall and F1; both sides empty counts 1, otherwise no true positive counts 0."""
    if counts.tp == 0:
        value = 0.0 if counts.fp or counts.fn else 1.0
        return Scores(value, value, value)
    return Scores(
        precision=counts.tp / (counts.tp + counts.fp),
        recall=counts.tp / (counts.tp + counts.fn),
        f1=2 * counts.tp / (2 * counts.tp + counts.fp + counts.fn),
    )


def total(by_document: Sequence[Counts]) -> Counts:
    """Add up the counts of all documents."""
    return sum(by_document, start=Counts())


def averages(by_document: Sequence[Counts]) -> Averages:
    """Return the scores of the summed counts, and the means of each document's scores."""
    return Averages(micro=scores(total(by_document)), macro=_mean([scores(counts) for counts in by_document]))


def _mean(values: Sequence[Scores]) -> Scores:
    if not values:
        return scores(Counts())
    n = len(values)
    return Scores(
        precision=sum(value.precision for value in values) / n,
        recall=sum(value.recall for value in values) / n,
        f1=sum(value.f1 for value in values) / n,
    )
