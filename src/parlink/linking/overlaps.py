"""Of detected spans that overlap, the disjoint ones with the highest sum of probabilities."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TypeVar

from parlink.types import Span

T = TypeVar("T")


def resolve_overlaps(items: Sequence[T], spans: Sequence[Span], probabilities: Sequence[float]) -> list[T]:
    """Keep the disjoint items whose detection probabilities have the highest sum, in text order.

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
        taken = tuple(a + b for a, b in zip(best[before], weight, strict=True))
        keep = taken > best[-1]
        choice.append((keep, before))
        best.append((taken[0], taken[1], taken[2]) if keep else best[-1])
    kept, place = [], len(order)
    while place:
        keep, before = choice[place - 1]
        if keep:
            kept.append(items[order[place - 1]])
        place = before if keep else place - 1
    return kept[::-1]
