"""The parts of a candidate's score by name, as they stand on the candidate, and their weighted sum."""

from __future__ import annotations

import math

from parlink.config import ScoreWeights
from parlink.decision_config import PRIOR_FLOOR
from parlink.types import Candidate

PARTS = tuple(ScoreWeights.__struct_fields__)


def score_parts(candidate: Candidate) -> tuple[float, ...]:
    """Return what is weighted, in the order of `PARTS`; a part that a candidate does not have is 0."""
    values = {name: getattr(candidate, name) or 0.0 for name in PARTS}
    values["prior"] = math.log(max(values["prior"], PRIOR_FLOOR))
    return tuple(values.values())


def weighted_parts(candidate: Candidate, weights: ScoreWeights) -> dict[str, float]:
    """Return what each part adds to the score of a candidate."""
    return {name: getattr(weights, name) * value for name, value in zip(PARTS, score_parts(candidate), strict=True)}


def weighted_total(candidate: Candidate, weights: ScoreWeights) -> float:
    """Add up the parts of a candidate's score, as `linking.scoring.Parts.total` and `linking.coherence` do."""
    return sum(weighted_parts(candidate, weights).values())
