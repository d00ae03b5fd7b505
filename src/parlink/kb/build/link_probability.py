"""How often a name is a link where it occurs: counted, and the fewer pages have it, the nearer to names like it.

A name that no text has gets the mean of names that look like it, and is marked as a guess.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parlink.kb import surfaces
from parlink.kb.build.facts import IS_LINKED
from parlink.kb.build.spill import Spill
from parlink.kb.names import form
from parlink.kb.shapes import SHAPES
from parlink.kb.tables import LINKED_BITS, LINKED_SCALE

# A column of 16 bits: the highest says that the probability is a guess, the others are the probability.
IS_GUESS, SCALE = 1 << LINKED_BITS, LINKED_SCALE

_DIGITS = 2  # that are kept of a probability: what is packed is smaller by a third
_PRIOR_PAGES = 4.0  # that the mean of names which look alike is worth
Seen = tuple[str, int, int]  # key, form, and whether it is a link


@dataclass(frozen=True, slots=True)
class LinkedColumns:
    """How often names are links where they occur."""

    names: NDArray[np.uint16]  # (names,) the probability; for a guess only `IS_GUESS`
    shapes: NDArray[np.uint16]  # (SHAPES,) the probability of names that look alike, which is what guesses are


def spill_occurrences(occurrences: Iterable[tuple[tuple[str, int], int]], scratch: Path) -> Spill[Seen]:
    """Sort the counts of surfaces by key, as names are."""
    seen: Spill[Seen] = Spill(scratch, "seen")
    for (surface, what), count in occurrences:
        if key := surfaces.key(surface):
            seen.add((key, form(surface), what), count)
    return seen


def join(names: Iterable[tuple[str, int, int]], seen: Iterable[tuple[Seen, int]]) -> LinkedColumns | None:
    """Return the columns for names, given as key, form and shape in the order of keys; None if nothing was counted."""
    occurs, linked, shapes = array("Q"), array("Q"), array("B")
    by_key = _ByKey(seen)
    for key, group in groupby(names, key=lambda name: name[0]):
        pages_by_form = by_key.advance(key)
        for _, checksums, shape_of_name in group:
            pages = pages_by_form.get(checksums, (0, 0))
            occurs.append(pages[0])
            linked.append(pages[1])
            shapes.append(shape_of_name)
    counted, links, looks = np.asarray(occurs), np.asarray(linked), np.asarray(shapes, np.int64)
    if not counted.any():
        return None
    means = _means(counted, links, looks)
    shrunk = (links + _PRIOR_PAGES * means[looks]) / (counted + _PRIOR_PAGES)
    return LinkedColumns(np.where(counted > 0, _scale(shrunk), np.uint16(IS_GUESS)), _scale(means))


def _means(occurs: NDArray[np.uint64], linked: NDArray[np.uint64], shapes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean probability of counted names of each shape; the mean of all is worth one name of it."""
    counted = occurs > 0
    probability, looks = linked[counted] / occurs[counted], shapes[counted]
    sums = np.bincount(looks, probability, SHAPES) + probability.mean()
    means: NDArray[np.float64] = sums / (np.bincount(looks, minlength=SHAPES) + 1)
    return means


def _scale(probability: NDArray[np.float64]) -> NDArray[np.uint16]:
    return np.rint(np.round(probability, _DIGITS) * SCALE).astype(np.uint16)


class _ByKey:
    """Counts that are sorted by key, to be asked for ever later keys."""

    def __init__(self, seen: Iterable[tuple[Seen, int]]) -> None:
        self._groups: Iterator[tuple[str, Iterator[tuple[Seen, int]]]] = groupby(seen, key=lambda row: row[0][0])
        self._key, self._pages = "", dict[int, tuple[int, int]]()

    def advance(self, key: str) -> dict[int, tuple[int, int]]:
        """Return on how many pages each form of a key occurs, and on how many it is a link."""
        while self._key < key and (group := next(self._groups, None)) is not None:
            self._key, self._pages = group[0], _sum(group[1])
        return self._pages if self._key == key else {}


def _sum(rows: Iterable[tuple[Seen, int]]) -> dict[int, tuple[int, int]]:
    pages: dict[int, list[int]] = {}
    for (_, checksums, what), count in rows:
        pages.setdefault(checksums, [0, 0])[what == IS_LINKED] += count
    return {checksums: (occurs, linked) for checksums, (occurs, linked) in pages.items() if occurs}
