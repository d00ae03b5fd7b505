"""Choose the thresholds that maximize linking micro-F1, from one pass of linking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from parlink.evaluation.counting import DEFAULT_RULES, Rules
from parlink.evaluation.curves import CurvePoint
from parlink.evaluation.metrics import Scores, scores
from parlink.evaluation.proposals import Proposal, count, proposals
from parlink.types import Document

LOWEST = -5.0  # where the pass of linking has to begin
GRID = tuple(step / 10 for step in range(-50, 51))
_CUTS = 60  # score thresholds tried


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The best thresholds, what they give, and how the score changes with each."""

    threshold: float
    score_threshold: float | None
    scores: Scores
    curve: tuple[CurvePoint, ...]  # by threshold, without a score threshold
    score_curve: tuple[CurvePoint, ...]  # by score threshold, at the best threshold


def choose_thresholds(
    gold: Sequence[Document], predicted: Sequence[Document], *, rules: Rules = DEFAULT_RULES
) -> Thresholds:
    """Choose the detection threshold, then the score threshold, by linking InKB micro-F1.

    `predicted` are the same documents linked at a threshold of `LOWEST` or less, without a score
    threshold and with overlapping links kept: overlaps are resolved again at each threshold.
    """
    found = proposals(gold, predicted, rules)
    curve = tuple(CurvePoint(at, scores(counts)) for at, counts in zip(GRID, found.counts(GRID), strict=True))
    threshold = _middle_of_best(curve)
    kept = found.kept(threshold)
    score_curve = _score_curve(kept, found.wanted)
    plain = scores(count(kept, found.wanted))
    best = max(score_curve, key=lambda point: point.scores.f1, default=None)
    if best is None or best.scores.f1 <= plain.f1:
        return Thresholds(threshold, None, plain, curve, score_curve)
    return Thresholds(threshold, best.threshold, best.scores, curve, score_curve)


def _middle_of_best(curve: Sequence[CurvePoint]) -> float:
    """Return the middle of the first run of thresholds with the highest F1: an edge would be a matter of luck."""
    best = max(point.scores.f1 for point in curve)
    first = next(i for i, point in enumerate(curve) if point.scores.f1 == best)
    last = first
    while last + 1 < len(curve) and curve[last + 1].scores.f1 == best:
        last += 1
    return curve[(first + last) // 2].threshold


def _score_curve(kept: Sequence[Proposal], wanted: int) -> tuple[CurvePoint, ...]:
    """Score what is left above each of some cuts, each between two totals; a link below becomes NIL."""
    totals = sorted({one.total for one in kept if one.counts and one.total is not None})
    cuts = [(low + high) / 2 for low, high in pairwise(totals)][:: max(1, len(totals) // _CUTS)]
    fixed = [one for one in kept if one.total is None]
    ranked = [(one.total, one) for one in kept if one.total is not None]
    return tuple(
        CurvePoint(cut, scores(count(fixed + [one for total, one in ranked if total >= cut], wanted))) for cut in cuts
    )
