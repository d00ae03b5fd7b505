"""Of links that overlap, the disjoint ones with the highest sum of probabilities; then a document is done."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from parlink.config import LinkSettings
from parlink.types import Document, Link, Span

T = TypeVar("T")


def resolve(doc: Document, links: Sequence[Link], settings: LinkSettings, *, kb: str | None) -> Document:
    """Give a document its links: detected ones disjoint, in text order; given ones all, as they were given."""
    if doc.spans is not None:
        by_span = {link.span: link for link in links}
        answers = [by_span.get(span) or Link(span, reason="no_token", source="given") for span in doc.spans]
    else:
        answers = sorted(links, key=lambda link: link.span)
        if settings.overlaps == "resolve":
            answers = [link for link in answers if is_told(link, settings)]
            probabilities = [weigh(link, settings) for link in answers]
            answers = resolve_overlaps(answers, [link.span for link in answers], probabilities)
    return replace(doc, links=tuple(answers), kb=kb, error=None)


def keep_longest(spans: Iterable[Span]) -> list[Span]:
    """Leave out spans that lie within others; in text order."""
    longest: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not longest or span.end > longest[-1].end:
            longest.append(span)
    return longest


def lies_within(span: Span, longest: Sequence[Span]) -> bool:
    """Whether a span lies within a longer one of those that `keep_longest` kept."""
    place = bisect_right(longest, span.start, key=lambda other: other.start) - 1
    return place >= 0 and span.end <= longest[place].end and span != longest[place]


def is_told(link: Link, settings: LinkSettings) -> bool:
    """Whether a link is part of the answer: to an entity, or one to none of what the detector is sure is a mention."""
    detected = link.source == "detector" and (link.mention_logit or 0.0) > settings.mention_threshold
    return link.title is not None or detected


def weigh(link: Link, settings: LinkSettings) -> float:
    """Return what a link counts against those that it overlaps: its confidence, or without a decision its mention's.

    A mention without an entity gives way to all that have one.
    """
    if settings.decision is None:
        return link.mention_probability or 0.0
    return (link.confidence or 0.0) if link.title is not None else 1e-6 * (link.mention_probability or 0.0)


def resolve_overlaps(items: Sequence[T], spans: Sequence[Span], probabilities: Sequence[float]) -> list[T]:
    """Keep the disjoint items whose probabilities have the highest sum, in text order.

    Ties go to the longer, then to the earlier; an item that overlaps nothing is never dropped. Sums are
    exact (fixed point), so that the answer does not depend on the order of additions.
    """
    order = sorted(range(len(items)), key=lambda i: (spans[i].end, spans[i].start))
    ends = [spans[i].end for i in order]
    best: list[tuple[int, int, int]] = [(0, 0, 0)]
    choice: list[tuple[bool, int]] = []
    for place, i in enumerate(order):
        before = bisect_right(ends, spans[i].start, hi=place)
        weight = (round(probabilities[i] * 2**40), spans[i].end - spans[i].start, -spans[i].start)
        with_it = tuple(a + b for a, b in zip(best[before], weight, strict=True))
        keep = with_it > best[-1]
        choice.append((keep, before))
        best.append((with_it[0], with_it[1], with_it[2]) if keep else best[-1])
    disjoint, place = [], len(order)
    while place:
        keep, before = choice[place - 1]
        if keep:
            disjoint.append(items[order[place - 1]])
        place = before if keep else place - 1
    return disjoint[::-1]
