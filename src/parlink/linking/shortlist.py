"""Which names the network reads: to read them is most of the work of scoring, and most of them cannot win.

What is known of a candidate without reading its name is known first: prior, similarity and the like. Of a mention with
several candidates only the names of the best by that are read; the others, and a candidate without a rival, are
taken to have the log-likelihood and the correction that such names have on average.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from parlink.config import Shortlist
from parlink.linking.network import Floats, Integers


def choose_names(known: Floats, mention: Integers, shortlist: Shortlist | None) -> NDArray[np.bool_]:
    """Say which names are read, (names,), given what is known of each and whose it is; those of one are neighbors."""
    chosen = np.ones(len(known), np.bool_)
    if shortlist is None or not len(known):
        return chosen
    first = np.flatnonzero(np.diff(mention, prepend=-1))
    count = np.diff(np.append(first, len(known)))
    order = np.lexsort((-known, mention))
    place = np.arange(len(known)) - np.repeat(first, count)  # in the order of its mention
    behind = np.repeat(known[order][first], count) - known[order]
    chosen[order] = (place < shortlist.names) & (behind <= shortlist.margin) & (np.repeat(count, count) > 1)
    return chosen
