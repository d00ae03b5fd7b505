"""Coherence: how well each candidate fits what else its document may be about.

Titles are related by the pages that link to both of them. The names of a document, each with the candidates that it is
likely to stand for, support the candidates of each other name: a title is supported by a name through the one candidate
that is both likely and related, and by the document through the names that support it most. As the likelihoods follow
the scores, and the scores the support, this is done a few times. It is a fixed number of matrix products a document;
with weight 0 nothing changes. A name counts as much as it is likely to be a mention, and a title that few pages link
to is related to others less than its few pages say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from parlink.types import Candidate, Document

if TYPE_CHECKING:  # torch, which it needs, takes a second to import
    from parlink.linking.mentions import Mention

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

POOL = 10  # candidates of a mention that take part
SUPPORTERS = 10  # names whose support is averaged
ROUNDS = 3
FEW = 1.0  # pages; a title with so many counts half
MANY = 32  # titles that a page links to, from which on products of all titles are no more work than those of pairs
BLOCK = 128  # mentions of a stretch of text; each stretch sees its two neighbors, so that long texts cost in proportion


class LinkGraph(Protocol):
    """Which pages link to a title."""

    def pages_of(self, titles: Sequence[str]) -> tuple[Integers, Integers]:
        """Return how many pages link to each title, and their numbers, title by title, ascending."""
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
    probability: float = 1.0  # that it is a mention


def add_coherence(
    docs: Sequence[Document],
    mentions: Sequence[Mention],
    candidates: Sequence[Sequence[Candidate]],
    graph: LinkGraph,
    *,
    weight: float,
) -> list[list[Candidate]]:
    """Add to the scores of candidates what the other mentions of their document say for them, the best first.

    Only the `POOL` best of a mention take part; the others, and NIL, have no support.
    """
    result = [list(choice) for choice in candidates]
    by_document: list[list[int]] = [[] for _ in docs]
    for number, mention in enumerate(mentions):
        by_document[mention.document].append(number)
    for doc, numbers in zip(docs, by_document, strict=True):
        numbers.sort(key=lambda number: mentions[number].span)
        pools = [[c for c in candidates[number] if c.title][:POOL] for number in numbers]
        scored = [_as_scored(doc, mentions[number], pool) for number, pool in zip(numbers, pools, strict=True)]
        for number, pool, gains in zip(numbers, pools, support(scored, graph, weight=weight), strict=True):
            gain = {candidate.title: value for candidate, value in zip(pool, gains.tolist(), strict=True)}
            result[number] = _add_support(candidates[number], gain, weight)
    return result


def _as_scored(doc: Document, mention: Mention, pool: Sequence[Candidate]) -> ScoredMention:
    return ScoredMention(
        name=doc.text[mention.span.start : mention.span.end],
        titles=tuple(candidate.title for candidate in pool),
        scores=np.array([candidate.score or 0.0 for candidate in pool]),
        probability=1.0 if mention.probability is None else mention.probability,
    )


def _add_support(candidates: Sequence[Candidate], gain: dict[str, float], weight: float) -> list[Candidate]:
    supported = [_add(candidate, gain.get(candidate.title, 0.0), weight) for candidate in candidates]
    return sorted(supported, key=lambda candidate: (-(candidate.score or 0.0), candidate.title))


def _add(c: Candidate, support: float, weight: float) -> Candidate:
    """The same candidate with its support; `replace` would take three times as long."""
    score = (c.score or 0.0) + weight * support
    parts = (c.prior, c.lm, c.classifier, c.similarity, c.overlap, c.differs, support)
    return Candidate(c.title, c.id, score, *parts, c.match_type, c.url, c.extra)


def support(mentions: Sequence[ScoredMention], graph: LinkGraph, *, weight: float) -> list[Floats]:
    """Return the support of each candidate of each mention of a document, from 0 to 1."""
    result: list[Floats] = []
    for first, last, begin, end in _stretches(len(mentions)):
        in_sight = _support_in(mentions[begin:end], graph, weight=weight)
        result += in_sight[first - begin : last - begin]
    return result


def relate(titles: Sequence[str], graph: LinkGraph) -> Floats:
    """Return the root of the cosine of every two titles by the pages that link to them, 1 of a title with itself.

    The root, since a little in common says much. The cosine fades where pages are few: two titles on the one page that
    links to either need not have to do with each other.
    """
    count, page = graph.pages_of(titles)
    row = np.repeat(np.arange(len(titles)), count)
    weights = graph.page_weights(page)
    norm = np.sqrt(np.bincount(row, weights**2, minlength=len(titles)))
    trust = np.sqrt(count / (count + FEW))
    order = np.argsort(page, kind="stable")  # those of a page are neighbors
    parts = (weights / norm[row] * trust[row])[order]
    related: Floats = np.sqrt(np.minimum(_multiply(row[order], page[order], parts, len(titles)), 1.0))
    np.fill_diagonal(related, 1.0)
    return related


def _multiply(row: Integers, column: Integers, values: Floats, rows: int) -> Floats:
    """The product of every two rows of a sparse matrix, (rows, rows), whose entries are sorted by column.

    Most columns have few entries, whose products are added pair by pair; the others are laid out as a matrix.
    """
    first = np.flatnonzero(np.diff(column, prepend=-1))
    size = np.diff(first, append=len(column))
    few = size <= MANY
    behind = np.where(np.repeat(few, size), np.repeat(first + size, size) - 1 - np.arange(len(column)), 0)
    left = np.repeat(np.arange(len(column)), behind)
    right = left + 1 + np.arange(len(left)) - np.repeat(np.cumsum(behind) - behind, behind)
    sums = np.bincount(row[left] * rows + row[right], values[left] * values[right], rows * rows)
    upper: Floats = sums.astype(np.float64, copy=False).reshape(rows, rows)
    many = np.repeat(~few, size)
    matrix = np.zeros((rows, len(few) - np.count_nonzero(few)), np.float32)
    matrix[row[many], np.repeat(np.cumsum(~few) - 1, size)[many]] = values[many]
    return upper + upper.T + matrix @ matrix.T


def _support_in(mentions: Sequence[ScoredMention], graph: LinkGraph, *, weight: float) -> list[Floats]:
    """The support within one stretch of text; all candidates of all mentions lie in one row."""
    names = {name: number for number, name in enumerate(dict.fromkeys(m.name for m in mentions))}
    titles = {title: number for number, title in enumerate(dict.fromkeys(t for m in mentions for t in m.titles))}
    sizes = np.array([len(m.titles) for m in mentions], np.int64)
    if len(names) < 2 or not titles:
        return [np.zeros(size) for size in sizes]
    related = relate(list(titles), graph)
    name = np.array([names[m.name] for m in mentions])  # (mentions,)
    present = np.zeros(len(names))
    np.maximum.at(present, name, [m.probability for m in mentions])
    share = 1 / np.bincount(name)[name]  # of a mention in its name
    mention = np.repeat(np.arange(len(mentions)), sizes)  # (candidates,), as the next four
    column = np.array([titles[t] for m in mentions for t in m.titles])
    scores = np.concatenate([m.scores for m in mentions])
    pairs, pair = np.unique(name[mention] * len(titles) + column, return_inverse=True)
    owner, title = np.divmod(pairs, len(titles))  # (pairs,): a name and a title that it may stand for
    gained, rows = np.zeros(len(scores)), related[title]
    first, of_name = _firsts(mention), _firsts(owner)
    for _ in range(ROUNDS):
        shares = _softmax(scores + weight * gained, first) * share[mention]
        likely = np.bincount(pair, shares).astype(np.float64)
        by_name = _support_by_name(likely, rows, of_name, owner[of_name], present)
        gained = _best_supporters(by_name, owner, title)[pair]
    return np.split(gained, np.cumsum(sizes)[:-1])


def _support_by_name(likely: Floats, related: Floats, first: Integers, names: Integers, present: Floats) -> Floats:
    """How much each name supports each title: (titles, names), through its one best candidate.

    `related` is by pair, and `first` the first pair of each of the `names` that have any.
    """
    support = np.zeros((related.shape[1], len(present)))
    best = np.maximum.reduceat(likely[:, None] * related, first)
    support[:, names] = (best * present[names, None]).T
    return support


def _best_supporters(support: Floats, owner: Integers, title: Integers) -> Floats:
    """The mean support of the names that support the title of each pair most, its own name left out: (pairs,)."""
    most = min(SUPPORTERS, support.shape[1] - 1)
    best = -np.partition(-support, most)[:, : most + 1]  # the last is the least of them
    least, own = best[:, :most].min(1)[title], support[title, owner]
    sums = np.where(own >= least, best.sum(1)[title] - own, best[:, :most].sum(1)[title])
    return np.asarray(np.maximum(sums, 0.0) / most)


def _stretches(count: int) -> Iterator[tuple[int, int, int, int]]:
    """Stretches of mentions, and what each sees: first, last, begin, end."""
    for first in range(0, count, BLOCK):
        last = min(first + BLOCK, count)
        yield first, last, max(first - BLOCK, 0), min(last + BLOCK, count)


def _firsts(group: Integers) -> Integers:
    """Where each group begins; those of a group are neighbors."""
    return np.append(0, np.flatnonzero(group[1:] != group[:-1]) + 1)


def _softmax(scores: Floats, first: Integers) -> Floats:
    """The softmax within each of the groups that begin at `first`."""
    sizes = np.append(first[1:], len(scores)) - first
    shares = np.exp(scores - np.repeat(np.maximum.reduceat(scores, first), sizes))
    return np.asarray(shares / np.repeat(np.add.reduceat(shares, first), sizes))
