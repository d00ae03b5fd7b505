"""What a shortlist makes of links whose names were all read, so that weights and what follows need one pass of linking.

To fit weights all names must be read; what is fitted after them must see what linking will see, which is the names of a
few candidates and, in place of the others, what such names have on average.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from parlink.config import ScoreWeights, Shortlist
from parlink.linking.parts import weighted_total
from parlink.linking.shortlist import choose_names
from parlink.types import Candidate, Document, Link


def average_unread(docs: Iterable[Document], weights: ScoreWeights, shortlist: Shortlist) -> Shortlist:
    """The shortlist with the mean log-likelihood and correction of the names that it leaves unread, if it does."""
    unread = [
        (candidate.lm or 0.0, candidate.classifier or 0.0)
        for doc in docs
        for candidate, read in zip(_candidates(doc), _choose(doc, weights, shortlist), strict=True)
        if not read
    ]
    if not unread:
        return shortlist
    lm, classifier = np.mean(unread, axis=0).tolist()
    return msgspec.structs.replace(shortlist, lm=lm, classifier=classifier)


def leave_unread(doc: Document, weights: ScoreWeights, shortlist: Shortlist) -> Document:
    """Give the names that a shortlist leaves unread what it takes them to have; scores are not computed anew."""
    read = iter(_choose(doc, weights, shortlist).tolist())
    links = [
        replace(link, candidates=tuple(c if next(read) else _guess(c, shortlist) for c in link.candidates))
        for link in doc.links
    ]
    return replace(doc, links=tuple(links))


def _candidates(doc: Document) -> list[Candidate]:
    return [candidate for link in doc.links for candidate in link.candidates]


def _choose(doc: Document, weights: ScoreWeights, shortlist: Shortlist) -> NDArray[np.bool_]:
    """Which names would be read, (candidates of all links,), by what is known of them before."""
    before = msgspec.structs.replace(weights, lm=0.0, classifier=0.0, coherence=0.0)
    known = np.array([weighted_total(candidate, before) for candidate in _candidates(doc)], np.float32)
    return choose_names(known, _number(doc.links), shortlist)


def _number(links: Sequence[Link]) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(links)), [len(link.candidates) for link in links])


def _guess(candidate: Candidate, shortlist: Shortlist) -> Candidate:
    return replace(candidate, lm=shortlist.lm, classifier=shortlist.classifier)
