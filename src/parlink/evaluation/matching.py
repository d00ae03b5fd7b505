"""Which predicted annotation is which gold one: one to one, by exact span or by overlap, and by equal entity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from parlink.types import Span

K = TypeVar("K", bound=Hashable)


class Match(StrEnum):
    """When two spans count as the same mention."""

    STRONG = "strong"  # equal spans
    WEAK = "weak"  # overlapping spans


@dataclass(frozen=True, slots=True)
class Annotation:
    """A span and what must be equal beside it: a title, None for NIL, or "" where only spans are compared."""

    span: Span
    entity: str | None


Pairs = tuple[tuple[int, int], ...]  # (index in gold, index in predicted), in the order of gold


def one_to_one(gold: Sequence[Annotation], predicted: Sequence[Annotation], match: Match = Match.STRONG) -> Pairs:
    """Pair gold with predicted annotations, each at most once, as many as possible."""
    if match is Match.STRONG:
        return _equal(gold, predicted)
    by_entity = _positions([annotation.entity for annotation in predicted])
    pairs: list[tuple[int, int]] = []
    for entity, wanted in _positions([annotation.entity for annotation in gold]).items():
        spans = [(gold[i].span, i) for i in wanted]
        pairs += _overlapping(spans, [(predicted[j].span, j) for j in by_entity.get(entity, ())])
    return tuple(sorted(pairs))


def _equal(gold: Sequence[Annotation], predicted: Sequence[Annotation]) -> Pairs:
    free = {annotation: found[::-1] for annotation, found in _positions(predicted).items()}
    return tuple((i, free[wanted].pop()) for i, wanted in enumerate(gold) if free.get(wanted))


def _positions(keys: Sequence[K]) -> dict[K, list[int]]:
    positions: dict[K, list[int]] = defaultdict(list)
    for index, key in enumerate(keys):
        positions[key].append(index)
    return dict(positions)


def _overlapping(gold: list[tuple[Span, int]], predicted: list[tuple[Span, int]]) -> list[tuple[int, int]]:
    """Return a largest matching of overlapping spans.

    The span that ends first is matched with the overlapping span of the other side that ends
    first. All its partners hold its last character, so an exchange never loses a pair.
    """
    left = sorted(gold, key=lambda item: (item[0].end, item[0].start), reverse=True)
    right = sorted(predicted, key=lambda item: (item[0].end, item[0].start), reverse=True)
    pairs: list[tuple[int, int]] = []
    while left and right:
        if left[-1][0].end <= right[-1][0].end:
            span, i = left.pop()
            if (j := _take_first_overlap(right, span)) is not None:
                pairs.append((i, j))
        else:
            span, j = right.pop()
            if (i_found := _take_first_overlap(left, span)) is not None:
                pairs.append((i_found, j))
    return pairs


def _take_first_overlap(spans: list[tuple[Span, int]], span: Span) -> int | None:
    for position in reversed(range(len(spans))):
        if spans[position][0].overlaps(span):
            return spans.pop(position)[1]
    return None
