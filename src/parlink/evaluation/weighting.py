"""Fit the weights of a score's parts, since every candidate carries them.

The weights maximize the conditional likelihood of the right candidate among those of its mention: a softmax regression.
As the support that candidates have depends on the scores, it is computed anew with the weights, a few times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from parlink.config import ScoreWeights, Tuned
from parlink.evaluation.counting import entity, linked_mentions
from parlink.evaluation.regression import Floats, fit_softmax
from parlink.evaluation.resampling import Interval
from parlink.evaluation.shortlisting import average_unread, leave_unread
from parlink.linking.coherence import POOL, LinkGraph, ScoredMention, support
from parlink.linking.parts import PARTS, score_parts, weighted_total
from parlink.types import Candidate, Document, Link

ROUNDS = 4
FIRST_COHERENCE = 10.0  # the weight that support is computed with before one is fitted


@dataclass(frozen=True, slots=True)
class FittedWeights:
    """The weights, and where each lies with a certainty of 95 %, documents drawn anew."""

    weights: ScoreWeights
    intervals: dict[str, Interval]
    mentions: int  # with the right candidate among several


def fit_weights(
    gold: Sequence[Document],
    predicted: Sequence[Document],
    *,
    current: ScoreWeights,
    graph: LinkGraph | None = None,
    counts: Sequence[float] | None = None,
) -> FittedWeights | None:
    """Fit the weights on links with all their candidates; None where no right candidate has a rival.

    `graph` is that of the knowledge base; without one coherence keeps no weight. A part that would count against the
    right candidate gets the weight 0. `counts` says for how many the mentions of each document count.
    """
    weights = msgspec.structs.replace(current, coherence=0.0 if graph is None else current.coherence or FIRST_COHERENCE)
    fitted = None
    for _ in range(1 if graph is None else ROUNDS):
        predicted = [reweight(doc, weights, graph=graph) for doc in predicted]
        fitted = _fit(gold, predicted, [1.0] * len(gold) if counts is None else counts)
        if fitted is None:
            return None
        weights = fitted.weights
    return fitted


def reweight(doc: Document, weights: ScoreWeights, *, graph: LinkGraph | None = None) -> Document:
    """Rank the candidates of every link again by other weights of the parts of their scores.

    With a `graph` their support is computed anew too; without one they keep theirs.
    """
    local = weights if graph is None else msgspec.structs.replace(weights, coherence=0.0)
    links = [_reweight_link(link, local) for link in doc.links]
    if graph is not None and weights.coherence:
        links = _support_anew(doc, links, weights, graph)
    return replace(doc, links=tuple(links))


def take_weights(tuned: Tuned, weights: ScoreWeights, predicted: Iterable[Document]) -> Tuned:
    """The values with other weights, and what names that are not read have by these; all of `predicted` were read."""
    shortlist = tuned.shortlist and average_unread(predicted, weights, tuned.shortlist)
    return msgspec.structs.replace(tuned, weights=weights, shortlist=shortlist)


def rescore(doc: Document, tuned: Tuned, *, graph: LinkGraph | None = None) -> Document:
    """Rank the candidates of links whose names were all read as linking with these values ranks them."""
    if tuned.shortlist is not None:
        doc = leave_unread(doc, tuned.weights, tuned.shortlist)
    return reweight(doc, tuned.weights, graph=graph)


def _fit(gold: Sequence[Document], predicted: Sequence[Document], counts: Sequence[float]) -> FittedWeights | None:
    rows = list(_rows(gold, predicted))
    if not rows:
        return None
    widest = max(len(parts) for _, parts, _ in rows)
    parts, offered = np.zeros((len(rows), widest, len(PARTS))), np.zeros((len(rows), widest), bool)
    for row, (_, values, _) in enumerate(rows):
        parts[row, : len(values)], offered[row, : len(values)] = values, True
    group, right = (np.array([row[place] for row in rows]) for place in (0, 2))
    fitted = fit_softmax(parts, offered, right, group, counts=np.take(counts, group))
    values, errors = fitted.weights.tolist(), np.sqrt(np.maximum(np.diag(fitted.covariance), 0.0)).tolist()
    return FittedWeights(
        ScoreWeights(**{name: max(value, 0.0) for name, value in zip(PARTS, values, strict=True)}),
        {
            name: Interval(value - 1.96 * error, value + 1.96 * error)
            for name, value, error in zip(PARTS, values, errors, strict=True)
        },
        len(rows),
    )


def _rows(gold: Sequence[Document], predicted: Sequence[Document]) -> Iterator[tuple[int, Floats, int]]:
    """Of each link whose right candidate has rivals: its document, (candidates, parts), and the place of the right."""
    for number, (wanted, doc) in enumerate(zip(gold, predicted, strict=True)):
        titles = {link.span: entity(link) for link in linked_mentions(wanted)}
        for link in doc.links:
            places = [at for at, candidate in enumerate(link.candidates) if candidate.title == titles.get(link.span)]
            if places and len(link.candidates) > 1:
                yield number, np.array([score_parts(candidate) for candidate in link.candidates]), places[0]


def _reweight_link(link: Link, weights: ScoreWeights) -> Link:
    if link.title is None or not link.candidates:
        return link
    return _rank(link, [replace(candidate, score=weighted_total(candidate, weights)) for candidate in link.candidates])


def _rank(link: Link, candidates: Sequence[Candidate]) -> Link:
    ranked = tuple(sorted(candidates, key=lambda candidate: (-(candidate.score or 0.0), candidate.title)))
    return replace(link, title=ranked[0].title, id=ranked[0].id, url=ranked[0].url, candidates=ranked)


def _support_anew(doc: Document, links: Sequence[Link], weights: ScoreWeights, graph: LinkGraph) -> list[Link]:
    """Give the candidates of a document the support that the linker would give them."""
    order = sorted((at for at, link in enumerate(links) if link.title is not None), key=lambda at: links[at].span)
    scored = [_as_scored(doc, links[at]) for at in order]
    result = list(links)
    for at, mention, gains in zip(order, scored, support(scored, graph, weight=weights.coherence), strict=True):
        gain = dict(zip(mention.titles, gains.tolist(), strict=True))
        candidates = [replace(c, coherence=gain.get(c.title, 0.0)) for c in links[at].candidates]
        result[at] = _reweight_link(replace(links[at], candidates=tuple(candidates)), weights)
    return result


def _as_scored(doc: Document, link: Link) -> ScoredMention:
    pool = link.candidates[:POOL]
    return ScoredMention(
        name=doc.text[link.span.start : link.span.end],
        titles=tuple(candidate.title for candidate in pool),
        scores=np.array([candidate.score or 0.0 for candidate in pool]),
        probability=1.0 if link.mention_probability is None else link.mention_probability,
    )
