"""Rows with counts, sorted and summed in bounded memory: what does not fit is kept in sorted files."""

from __future__ import annotations

import heapq
import marshal
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Generic, TypeVar

Row = TypeVar("Row", bound=tuple[str | int | bytes, ...])
Counted = Iterator[tuple[Any, int]]

MAX_ROWS = 1_000_000  # held in memory, about 300 bytes each
MAX_FILES = 32  # of one level, merged into one of the next: a merge holds a batch of each file in memory
_BATCH = 4096


class Spill(Generic[Row]):
    """A multiset of rows. Iterate it, as often as wanted, for distinct rows in order with their counts.

    Rows of one spill have the same types, column by column; `make` turns a tuple from a file into a row. What was
    flushed is found again by a spill of the same folder and name.
    """

    def __init__(
        self, folder: Path, name: str, *, make: Callable[[Any], Row] | None = None, max_rows: int | None = None
    ) -> None:
        self._folder, self._name, self._make = folder, name, make or _as_it_is
        self._max_rows = MAX_ROWS if max_rows is None else max_rows
        self._held: dict[Row, int] = {}
        self._levels: list[list[Path]] = _find_files(folder, name)

    def add(self, row: Row, count: int = 1) -> None:
        """Count a row."""
        self._held[row] = self._held.get(row, 0) + count
        if len(self._held) >= self._max_rows:
            self.flush()

    def update(self, rows: Iterable[tuple[Row, int]]) -> None:
        """Count many rows."""
        for row, count in rows:
            self.add(row, count)

    def __iter__(self) -> Iterator[tuple[Row, int]]:
        return merge_spills([self])

    def flush(self) -> None:
        """Write what is held in memory to a file."""
        if self._held:
            rows = sorted((tuple(row), count) for row, count in self._held.items())
            self._held = {}
            self._write_file(0, iter(rows))

    def close(self) -> None:
        """Drop all rows."""
        self._held = {}
        for file in self._files():
            file.unlink()
        self._levels = []

    def streams(self) -> list[Counted]:
        """Return iterators that are sorted, each of some of the rows, which may be in several of them."""
        if not self._files():
            return [iter(sorted(self._held.items()))]
        self.flush()
        return [_read(file) for file in self._files()]

    def make(self, row: Any) -> Row:
        """Turn a tuple from a file into a row."""
        return self._make(row)

    def _files(self) -> list[Path]:
        return [file for level in self._levels for file in level]

    def _write_file(self, level: int, rows: Counted) -> None:
        if level == len(self._levels):
            self._levels.append([])
        path = self._folder / f"{self._name}-{level}-{len(self._levels[level])}"
        with path.open("wb") as file:
            batch = []
            for counted in rows:
                batch.append(counted)
                if len(batch) == _BATCH:
                    marshal.dump(batch, file)
                    batch = []
            marshal.dump(batch, file)
        self._levels[level].append(path)
        if len(self._levels[level]) >= MAX_FILES:
            merged = self._levels[level]
            self._write_file(level + 1, _merge([_read(part) for part in merged]))
            for part in merged:
                part.unlink()
            self._levels[level] = []


def merge_spills(spills: Sequence[Spill[Row]]) -> Iterator[tuple[Row, int]]:
    """Yield the distinct rows of several spills of one kind in order, with their counts."""
    make = spills[0].make if spills else _as_it_is
    for row, count in _merge([stream for spill in spills for stream in spill.streams()]):
        yield make(row), count


def _merge(streams: Sequence[Counted]) -> Counted:
    if len(streams) == 1:
        yield from streams[0]
        return
    for row, group in groupby(heapq.merge(*streams), key=itemgetter(0)):
        yield row, sum(count for _, count in group)


def _find_files(folder: Path, name: str) -> list[list[Path]]:
    levels: dict[int, list[tuple[int, Path]]] = {}
    for path in folder.glob(f"{name}-*-*"):
        if match := re.fullmatch(rf"{name}-(\d+)-(\d+)", path.name):
            levels.setdefault(int(match[1]), []).append((int(match[2]), path))
    return [[path for _, path in sorted(levels.get(level, []))] for level in range(max(levels, default=-1) + 1)]


def _as_it_is(row: Any) -> Any:
    return row


def _read(path: Path) -> Counted:
    with path.open("rb") as file:
        while True:
            try:
                batch = marshal.load(file)
            except EOFError:
                return
            yield from batch
