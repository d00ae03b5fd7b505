"""How often a name is a link where it occurs: counted, or for names that no text has, the mean of names like it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parlink.kb import surfaces
from parlink.kb.build.facts import IS_LINKED
from parlink.kb.build.spill import Spill
from parlink.kb.tables import LINKED_BITS, LINKED_SCALE, form

# A column of 16 bits: the highest says that the probability is a guess, the others are the probability.
IS_GUESS, SCALE = 1 << LINKED_BITS, LINKED_SCALE

_DIGITS = 2  # that are kept of a probability: what is packed is smaller by a third
_SHAPES = 4 * 4 * 8  # words, capitals, length
_CAPITALS = 4
_LENGTHS = 8
Seen = tuple[str, int, int]  # key, form, and whether it is a link


def shape(surface: str) -> int:
    """Return a number that names have in common which look alike: how many words, capitals, how long."""
    words = surface.split() or [""]
    if surface.isupper():
        capitals = 3
    else:
        capital = sum(word[:1].isupper() for word in words)
        capitals = 0 if not capital else 2 if capital == len(words) else 1
    return ((min(len(words), 4) - 1) * _CAPITALS + capitals) * _LENGTHS + min(len(surface) // 4, _LENGTHS - 1)


def spill_occurrences(occurrences: Iterable[tuple[tuple[str, int], int]], scratch: Path) -> Spill[Seen]:
    """Sort the counts of surfaces by key, as names are."""
    seen: Spill[Seen] = Spill(scratch, "seen")
    for (surface, what), count in occurrences:
        if key := surfaces.key(surface):
            seen.add((key, form(surface), what), count)
    return seen


def join(names: Iterable[tuple[str, int, int]], seen: Iterable[tuple[Seen, int]]) -> NDArray[np.uint16] | None:
    """Return the column for names, given as key, form and shape in the order of keys; None if nothing was counted."""
    counted: list[float] = []
    shapes: list[int] = []
    by_key = _ByKey(seen)
    for key, group in groupby(names, key=lambda name: name[0]):
        probabilities = by_key.advance(key)
        for _, checksums, shape_of_name in group:
            counted.append(probabilities.get(checksums, np.nan))
            shapes.append(shape_of_name)
    probability, kind = np.asarray(counted), np.asarray(shapes, np.int64)
    is_counted = ~np.isnan(probability)
    if not is_counted.any():
        return None
    guessed = _means(probability[is_counted], kind[is_counted])[kind]
    rounded = np.round(np.where(is_counted, probability, guessed), _DIGITS)
    scaled = np.rint(rounded * SCALE).astype(np.uint16)
    column: NDArray[np.uint16] = scaled | np.where(is_counted, 0, IS_GUESS).astype(np.uint16)
    return column


def _means(probability: NDArray[np.float64], shapes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean of each shape; the mean of all is worth one name of it."""
    sums = np.bincount(shapes, probability, _SHAPES) + probability.mean()
    means: NDArray[np.float64] = sums / (np.bincount(shapes, minlength=_SHAPES) + 1)
    return means


class _ByKey:
    """Counts that are sorted by key, to be asked for ever later keys."""

    def __init__(self, seen: Iterable[tuple[Seen, int]]) -> None:
        self._groups: Iterator[tuple[str, Iterator[tuple[Seen, int]]]] = groupby(seen, key=lambda row: row[0][0])
        self._key, self._probabilities = "", dict[int, float]()

    def advance(self, key: str) -> dict[int, float]:
        """Return the link probability of each form of a key."""
        while self._key < key and (group := next(self._groups, None)) is not None:
            self._key, self._probabilities = group[0], _divide(group[1])
        return self._probabilities if self._key == key else {}


def _divide(rows: Iterable[tuple[Seen, int]]) -> dict[int, float]:
    pages: dict[int, list[int]] = {}
    for (_, checksums, what), count in rows:
        pages.setdefault(checksums, [0, 0])[what == IS_LINKED] += count
    return {checksums: linked / occurs for checksums, (occurs, linked) in pages.items() if occurs}
