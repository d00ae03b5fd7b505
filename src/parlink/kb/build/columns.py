"""Columns of what is known of each title: type, kind, description, popularity; gathered in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import marisa_trie
import numpy as np

from parlink.kb import arrays
from parlink.kb.build.spill import Spill
from parlink.kb.tables import DESCRIPTIONS_FILE, KINDS_FILE, TYPES


class EntityColumns:
    """What is known of titles, on its way into columns."""

    def __init__(self, scratch: Path) -> None:
        self._descriptions: Spill[tuple[str, str]] = Spill(scratch, "descriptions")  # description, title
        self._kinds: Spill[tuple[str, str]] = Spill(scratch, "kinds")  # kind, title
        self._types: Spill[tuple[str, int]] = Spill(scratch, "types")  # title, place in TYPES + 1
        self._popularity: Spill[tuple[str]] = Spill(scratch, "popularity")  # title; count: popularity
        self.is_popularity_known = True  # of every title

    def add(
        self, title: str, *, type: str = "", kind: str = "", description: str = "", popularity: int | None = None
    ) -> None:
        """Take in what is known of a title; empty: nothing."""
        if description:
            self._descriptions.add((description, title))
        if kind:
            self._kinds.add((kind, title))
        if type:
            self._types.add((title, TYPES.index(type) + 1))
        self.is_popularity_known &= bool(popularity)
        if popularity is not None:
            self._popularity.add((title,), popularity)

    def write(self, folder: Path, titles: Any) -> dict[str, arrays.Array]:
        """Write the tries of strings, and return the arrays; those that would hold nothing are left out."""
        columns = {
            "title_description": _write_strings(self._descriptions, titles, folder / DESCRIPTIONS_FILE),
            "title_kind": _write_strings(self._kinds, titles, folder / KINDS_FILE),
            "title_type": _column(((title, place) for (title, place), _ in self._types), titles).astype(np.uint8),
            "title_popularity": arrays.unsigned(_column(((row[0], count) for row, count in self._popularity), titles)),
        }
        return {name: column for name, column in columns.items() if column.any()}


def write_trie(keys: Iterable[str], path: Path) -> Any:
    """Write strings as a trie, and return it."""
    trie = marisa_trie.Trie(keys)
    path.write_bytes(trie.tobytes())
    return trie


def _write_strings(rows: Spill[tuple[str, str]], titles: Any, path: Path) -> arrays.Array:
    """Write the distinct strings, and return for each title the number of its own + 1.

    Real descriptions repeat: a trie of the distinct ones and a number a title take a quarter of the plain text.
    """
    trie = write_trie((text for text, _ in groupby(row[0] for row, _ in rows)), path)
    if not len(trie):
        path.unlink()
    return arrays.unsigned(_column(((title, trie[text] + 1) for (text, title), _ in rows), titles))


def _column(rows: Iterator[tuple[str, int]], titles: Any) -> arrays.Array:
    column = np.zeros(len(titles), np.int64)
    for title, value in rows:
        column[titles[title]] = value
    return column
