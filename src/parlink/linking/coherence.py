"""Coherence: how well each candidate fits what else its document may be about.

Titles are related by the pages that link to both of them. The names of a document, each with the candidates that it is
likely to stand for, support the candidates of each other name: a title is supported by a name through the one candidate
that is both likely and related, and by the document through the names that support it most. As the likelihoods follow
the scores, and the scores the support, this is done a few times. It is a fixed number of matrix products a document;
with weight 0 nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

POOL = 10  # candidates of a mention that take part
SUPPORTERS = 5  # names whose support is averaged
ROUNDS = 3
BLOCK = 128  # mentions of a stretch of text; each stretch sees its two neighbors, so that long texts cost in proportion


class LinkGraph(Protocol):
    """Which pages link to a title."""

    def pages(self, title: str) -> Integers:
        """Return the numbers of the pages that link to a title, ascending."""
        ...

    def page_weights(self, pages: Integers) -> Floats:
        """Return how much each page says: less, the more titles it links to."""
        ...


@dataclass(frozen=True, slots=True)
class ScoredMention:
    """A mention of a document as coherence sees it: its name, and the best of its candidates."""

    name: str
    titles: tuple[str, ...]
    scores: Floats  # (titles,) without coherence


def support(mentions: Sequence[ScoredMention], graph: LinkGraph, *, weight: float) -> list[Floats]:
    """Return the support of each candidate of each mention of a document, from 0 to 1."""
    result: list[Floats] = []
    for first, last, begin, end in _stretches(len(mentions)):
        found = _support_in(mentions[begin:end], graph, weight=weight)
        result += found[first - begin : last - begin]
    return result


def relate(titles: Sequence[str], graph: LinkGraph) -> Floats:
    """Return the cosine of every two titles by the pages that link to them, 1 of a title with itself."""
    related: Floats = np.eye(len(titles))
    pages = [graph.pages(title) for title in titles]
    row = np.repeat(np.arange(len(titles)), [len(listed) for listed in pages])
    page = np.concatenate([*pages, np.empty(0, np.int64)])
    weights = graph.page_weights(page)
    norm = np.sqrt(np.bincount(row, weights**2, minlength=len(titles)))
    _, column, times = np.unique(page, return_inverse=True, return_counts=True)
    shared = times[column] > 1  # a page that links to one of the titles relates it to no other
    _, column = np.unique(page[shared], return_inverse=True)
    if not len(column):
        return related
    vectors = np.zeros((len(titles), int(column.max()) + 1))
    vectors[row[shared], column] = weights[shared] / norm[row[shared]]
    related = np.clip(vectors @ vectors.T, 0.0, 1.0)
    np.fill_diagonal(related, 1.0)
    return related


def _support_in(mentions: Sequence[ScoredMention], graph: LinkGraph, *, weight: float) -> list[Floats]:
    """The support within one stretch of text."""
    names = {name: number for number, name in enumerate(dict.fromkeys(m.name for m in mentions))}
    titles = {title: number for number, title in enumerate(dict.fromkeys(t for m in mentions for t in m.titles))}
    nothing = [np.zeros(len(m.titles)) for m in mentions]
    if len(names) < 2 or not titles:
        return nothing
    related = relate(list(titles), graph)
    name = [names[m.name] for m in mentions]
    columns = [np.array([titles[t] for t in m.titles], np.int64) for m in mentions]
    gained = nothing
    for _ in range(ROUNDS):
        likely = np.zeros((len(names), len(titles)))
        for owner, column, mention, gain in zip(name, columns, mentions, gained, strict=True):
            likely[owner, column] += _softmax(mention.scores + weight * gain)
        likely /= np.bincount(name, minlength=len(names))[:, None]
        by_name = _support_by_name(likely, related)
        gained = [_best_supporters(by_name[:, column], owner) for owner, column in zip(name, columns, strict=True)]
    return gained


def _support_by_name(likely: Floats, related: Floats) -> Floats:
    """How much each name supports each title: (names, titles), through its one best candidate."""
    support = np.zeros_like(likely)
    for number, row in enumerate(likely):  # a loop over names, since each has few candidates of its own
        mine = np.flatnonzero(row)
        if len(mine):
            support[number] = (row[mine, None] * related[mine]).max(0)
    return support


def _best_supporters(by_name: Floats, owner: int) -> Floats:
    """The mean support of the names that support each candidate most, the mention's own name left out."""
    others = np.delete(by_name, owner, axis=0)
    most = min(SUPPORTERS, len(others))
    return np.asarray(np.sort(others, axis=0)[-most:].mean(0))


def _stretches(count: int) -> Iterator[tuple[int, int, int, int]]:
    """Stretches of mentions, and what each sees: first, last, begin, end."""
    for first in range(0, count, BLOCK):
        last = min(first + BLOCK, count)
        yield first, last, max(first - BLOCK, 0), min(last + BLOCK, count)


def _softmax(scores: Floats) -> Floats:
    shares = np.exp(scores - scores.max(initial=-np.inf))
    return np.asarray(shares / shares.sum()) if len(shares) else shares
