"""What one pass of linking at a low threshold proposes: enough to score any higher threshold without the model."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from parlink.evaluation.counting import Rules, entity, is_asserted, linked_mentions
from parlink.evaluation.metrics import Counts
from parlink.linking.overlaps import resolve_overlaps
from parlink.types import Document, Link, Span


@dataclass(frozen=True, slots=True)
class Proposal:
    """A link that some threshold would make."""

    span: Span
    detection: float  # log-odds; a given span is infinitely sure
    probability: float
    total: float | None  # score of the best candidate; None: there was none
    counts: bool  # whether the InKB score counts it
    right: bool
    link: Link


@dataclass(frozen=True, slots=True)
class Proposals:
    """The proposals of all documents, in groups that may overlap among themselves only."""

    groups: tuple[tuple[Proposal, ...], ...]
    wanted: int  # gold mentions with an entity

    def kept(self, threshold: float) -> list[Proposal]:
        """Return what is detected above a threshold, overlaps resolved as the linker does."""
        groups = ([one for one in group if one.detection > threshold] for group in self.groups)
        return [one for group in groups for one in _resolve(group)]

    def counts(self, thresholds: Sequence[float]) -> list[Counts]:
        """Count what is kept at each of some rising thresholds, resolving overlaps only where they change."""
        said, right = [0] * (len(thresholds) + 1), [0] * (len(thresholds) + 1)  # changes from a threshold on
        for group in self.groups:
            first = 0
            for level in sorted({one.detection for one in group}):
                last = bisect_left(thresholds, level)
                if first < last:
                    kept = _resolve([one for one in group if one.detection >= level])
                    for at, sign in ((first, 1), (last, -1)):
                        said[at] += sign * sum(one.counts for one in kept)
                        right[at] += sign * sum(one.right for one in kept)
                    first = last
        sums = zip(accumulate(said[:-1]), accumulate(right[:-1]), strict=True)
        return [Counts(tp, made - tp, self.wanted - tp) for made, tp in sums]


def _resolve(group: list[Proposal]) -> list[Proposal]:
    if len(group) < 2:
        return group
    return resolve_overlaps(group, [one.span for one in group], [one.probability for one in group])


def proposals(gold: Sequence[Document], predicted: Sequence[Document], rules: Rules) -> Proposals:
    """Judge every link of documents that were linked at a low threshold, overlapping links kept."""
    groups: list[tuple[Proposal, ...]] = []
    for wanted, found in zip(gold, predicted, strict=True):
        right = {(link.span, entity(link)) for link in linked_mentions(wanted)}
        groups += [
            tuple(_proposal(link, is_asserted(link, rules), (link.span, link.title) in right) for link in group)
            for group in _overlapping(found.links)
        ]
    return Proposals(tuple(groups), sum(len(linked_mentions(doc)) for doc in gold))


def links_above(gold: Document, predicted: Document, threshold: float, rules: Rules) -> list[Link]:
    """Return the links of one document that a threshold keeps."""
    return [one.link for one in proposals([gold], [predicted], rules).kept(threshold)]


def count(kept: Sequence[Proposal], wanted: int) -> Counts:
    """Count the proposals that were kept, against so many gold mentions."""
    tp = sum(one.right for one in kept)
    return Counts(tp, sum(one.counts for one in kept) - tp, wanted - tp)


def _proposal(link: Link, counts: bool, right: bool) -> Proposal:
    return Proposal(
        span=link.span,
        detection=math.inf if link.mention_logit is None else link.mention_logit,
        probability=1.0 if link.mention_probability is None else link.mention_probability,
        total=link.candidates[0].score if link.candidates else None,
        counts=counts,
        right=counts and right,
        link=link,
    )


def _overlapping(links: Sequence[Link]) -> Iterator[list[Link]]:
    """Yield links in groups: one that overlaps another is in the same group."""
    group: list[Link] = []
    reach = 0
    for link in sorted(links, key=lambda link: link.span):
        if group and link.span.start >= reach:
            yield group
            group = []
        group.append(link)
        reach = max(reach, link.span.end)
    if group:
        yield group
