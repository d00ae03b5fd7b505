"""The names by which titles are found: their kinds, their spellings, and those that hang on one key."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from parlink.kb import surfaces

# Kinds of names. An alias and a redirect are spelled as they are, and a redirect names one title for good; the
# others are made of the title, and are found by the step of the same name.
ALIAS, REDIRECT, SHORT_TITLE, PART = range(4)
KIND_SHIFT = 30
_FOLDED_BITS = 5  # of `form`
_FOLDED_MASK = (1 << _FOLDED_BITS) - 1
_EXACT_MASK = (1 << 11) - 1
TITLE_MASK = (1 << KIND_SHIFT) - 1


@dataclass(frozen=True, slots=True)
class Names:
    """The names that hang on a key: parallel arrays, a title as often as it has such names."""

    title: NDArray[np.int64]
    kind: NDArray[np.int64]
    form: NDArray[np.uint16]
    count: NDArray[np.float64]

    def steps(self, surface: str) -> NDArray[np.int64]:
        """Return the look-up step by which a surface of that key finds each name."""
        spelled = _SPELLED[self.form ^ np.uint16(form(surface))]
        return np.where(self.kind <= REDIRECT, spelled, self.kind + (surfaces.TITLE - SHORT_TITLE))


_DIFFERS = np.arange(1 << 16)  # bits in which two forms differ
_SPELLED = np.where(_DIFFERS & _FOLDED_MASK, surfaces.STRIPPED, surfaces.FOLDED).astype(np.int8)
_SPELLED[0] = surfaces.EXACT
assert surfaces.PART - surfaces.TITLE == PART - SHORT_TITLE, "kinds that are made of titles are in the order of steps"


def form(surface: str) -> int:
    """Return checksums of a surface as it stands (11 bits, high) and folded (5 bits, low).

    They tell the spellings of one key apart; two of them are mistaken for each other once in 2,048 times.
    """
    exact = unicodedata.normalize("NFC", surface)
    return (_checksum(exact) & _EXACT_MASK) << _FOLDED_BITS | _checksum(surfaces.fold(surface)) & _FOLDED_MASK


def narrow(forms: NDArray[Any]) -> NDArray[np.uint16]:
    """Bring the forms of older formats, 16 bits for each of the two, to `form`."""
    if forms.dtype == np.uint16:
        return forms
    exact, folded = forms >> 16 & _EXACT_MASK, forms & _FOLDED_MASK
    return (exact << _FOLDED_BITS | folded).astype(np.uint16)


def made_names(title: str) -> Iterator[tuple[int, str]]:
    """Yield the names that are made of a title, with their kinds."""
    if short := surfaces.drop_parenthesis(title):
        yield SHORT_TITLE, short
    for part in surfaces.parts(title):
        yield PART, part


def _checksum(text: str) -> int:
    return crc32(text.encode(errors="replace")) & 0xFFFF
