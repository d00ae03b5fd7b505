"""How sure a score is: intervals by bootstrap over documents, and a paired test between two systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parlink.evaluation.metrics import Counts, scores, total

Floats = NDArray[np.float64]
_BLOCK = 2_000_000  # numbers drawn at a time


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % confidence interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals of the micro scores and of macro F1."""

    precision: Interval
    recall: Interval
    f1: Interval
    macro_f1: Interval


@dataclass(frozen=True, slots=True)
class Comparison:
    """Micro F1 of two systems on the same documents."""

    f1: float
    other_f1: float
    difference: float  # first minus other
    interval: Interval  # of the difference, by paired bootstrap over documents
    p_value: float  # of a difference at least as large if the systems were exchangeable in every document


def intervals(by_document: Sequence[Counts], *, resamples: int = 1000, seed: int = 0) -> Intervals:
    """Draw documents with replacement again and again, and return where 95 % of the scores lie."""
    counts = _table(by_document)
    own_f1 = _scores(counts)[:, 2]
    drawn = [
        np.column_stack([_scores(weights @ counts), weights @ own_f1 / max(len(counts), 1)])
        for weights in _in_blocks(_redraw, len(counts), resamples, seed)
    ]
    low, high = np.percentile(np.concatenate(drawn), [2.5, 97.5], axis=0)
    return Intervals(*(Interval(float(a), float(b)) for a, b in zip(low, high, strict=True)))


def compare(first: Sequence[Counts], other: Sequence[Counts], *, resamples: int = 10_000, seed: int = 0) -> Comparison:
    """Compare two systems by their counts on the same documents, in the same order.

    The interval is a paired bootstrap's; the p-value is a permutation test's, in which the two
    outputs of each document are swapped by the toss of a coin.
    """
    a, b = _table(first), _table(other)
    f1, other_f1 = scores(total(first)).f1, scores(total(other)).f1
    drawn = [_f1(weights @ a) - _f1(weights @ b) for weights in _in_blocks(_redraw, len(a), resamples, seed)]
    low, high = np.percentile(np.concatenate(drawn), [2.5, 97.5])
    swapped = [
        _f1(a.sum(0) + coins @ (b - a)) - _f1(b.sum(0) + coins @ (a - b))
        for coins in _in_blocks(_toss, len(a), resamples, seed + 1)
    ]
    as_large = int((np.abs(np.concatenate(swapped)) >= abs(f1 - other_f1) - 1e-12).sum())
    return Comparison(f1, other_f1, f1 - other_f1, Interval(float(low), float(high)), (1 + as_large) / (1 + resamples))


def _table(by_document: Sequence[Counts]) -> Floats:
    return np.array([(c.tp, c.fp, c.fn) for c in by_document], dtype=np.float64).reshape(-1, 3)  # (documents, 3)


def _redraw(rng: np.random.Generator, rows: int, documents: int) -> Floats:
    return rng.multinomial(documents, np.full(documents, 1 / documents), size=rows).astype(np.float64)


def _toss(rng: np.random.Generator, rows: int, documents: int) -> Floats:
    return rng.integers(0, 2, size=(rows, documents)).astype(np.float64)


Draw = Callable[[np.random.Generator, int, int], Floats]


def _in_blocks(draw: Draw, documents: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield weights (some resamples, documents), so many at a time that memory stays small."""
    rng = np.random.default_rng(seed)
    at_once = max(1, _BLOCK // max(documents, 1))
    for start in range(0, resamples, at_once):
        rows = min(at_once, resamples - start)
        yield draw(rng, rows, documents) if documents else np.zeros((rows, 0))


def _scores(counts: Floats) -> Floats:
    """Precision, recall and F1 of each row of counts, as `metrics.scores` defines them."""
    tp, fp, fn = counts.T
    empty = (fp + fn == 0) & (tp == 0)
    parts = np.column_stack([tp + fp, tp + fn, tp + (fp + fn) / 2])
    return np.where(empty[:, None], 1.0, tp[:, None] / np.maximum(parts, 0.5))


def _f1(counts: Floats) -> Floats:
    return _scores(counts)[:, 2]
