"""Rows with counts, sorted and summed in bounded memory: what does not fit is kept in sorted files."""

from __future__ import annotations

import heapq
import marshal
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Generic, TypeVar

Row = TypeVar("Row", bound=tuple[str | int | bytes, ...])

MAX_ROWS = 1_000_000  # held in memory, about 300 bytes each
_BATCH = 4096


class Spill(Generic[Row]):
    """A multiset of rows. Iterate it, as often as wanted, for distinct rows in order with their counts.

    Rows of one spill have the same types, column by column; `make` turns a tuple from a file into a row.
    """

    def __init__(
        self, folder: Path, name: str, *, make: Callable[[Any], Row] | None = None, max_rows: int | None = None
    ) -> None:
        self._folder, self._name, self._make = folder, name, make or _as_it_is
        self._max_rows = MAX_ROWS if max_rows is None else max_rows
        self._held: dict[Row, int] = {}
        self._files: list[Path] = []

    def add(self, row: Row, count: int = 1) -> None:
        """Count a row."""
        self._held[row] = self._held.get(row, 0) + count
        if len(self._held) >= self._max_rows:
            self._write_file()

    def update(self, rows: Iterable[tuple[Row, int]]) -> None:
        """Count many rows."""
        for row, count in rows:
            self.add(row, count)

    def __iter__(self) -> Iterator[tuple[Row, int]]:
        if not self._files:
            yield from sorted(self._held.items())
            return
        if self._held:
            self._write_file()
        merged = heapq.merge(*map(_read, self._files))
        for row, group in groupby(merged, key=itemgetter(0)):
            yield self._make(row), sum(count for _, count in group)

    def close(self) -> None:
        """Drop all rows."""
        self._held = {}
        for file in self._files:
            file.unlink()
        self._files = []

    def _write_file(self) -> None:
        path = self._folder / f"{self._name}-{len(self._files)}"
        rows = sorted((tuple(row), count) for row, count in self._held.items())
        with path.open("wb") as file:
            for first in range(0, len(rows), _BATCH):
                marshal.dump(rows[first : first + _BATCH], file)
        self._files.append(path)
        self._held = {}


def _as_it_is(row: Any) -> Any:
    return row


def _read(path: Path) -> Iterator[tuple[tuple[Any, ...], int]]:
    with path.open("rb") as file:
        while True:
            try:
                batch = marshal.load(file)
            except EOFError:
                return
            yield from batch
