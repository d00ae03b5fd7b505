"""How much each name of a key says for its title: what p(title | surface) is made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from parlink.kb.names import PART as PART_NAME
from parlink.kb.names import REDIRECT, Names
from parlink.kb.surfaces import PART, STEPS

# A count under a spelling that is the surface but for its case weighs a third, but for punctuation a twentieth. Names
# that are made of a title were never seen; they weigh by a power of how well known the title is. Chosen on AIDA testa
# and seven other sets (recipes/README.md); most settings near these are as good.
STEP_WEIGHTS = (1.0, 0.3, 0.05, 0.3, 0.4)
_OF_STEP = np.array(STEP_WEIGHTS)
_POWER, _MORE = 0.6, 0.5
_LEAST_COUNT = 0.01  # of a name that is known, but was never seen in a text
_MOST_PARTS = 30  # titles that a surface finds as a part of theirs: of a common surname there are thousands


def weigh(names: Names, steps: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the weight of each name, given the look-up step by which the surface finds it."""
    seen, made = np.maximum(names.count, _LEAST_COUNT), (names.count + _MORE) ** _POWER
    weights: NDArray[np.float64] = np.where(names.kind <= REDIRECT, seen, made) * _OF_STEP[steps]
    parts = np.flatnonzero(names.kind == PART_NAME)
    if len(parts) > _MOST_PARTS:
        least = np.partition(weights[parts], -_MOST_PARTS)[-_MOST_PARTS]
        weights[parts[weights[parts] < least]] = 0.0
    return weights


assert len(STEP_WEIGHTS) == len(STEPS) == PART + 1, "a weight for each step"
