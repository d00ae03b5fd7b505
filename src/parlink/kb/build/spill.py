"""Rows with counts, sorted and summed in bounded memory: what does not fit goes to files, which DuckDB merges."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from parlink.errors import ParlinkError

Row = TypeVar("Row", bound=tuple[str | int, ...])

MAX_BYTES = 128 << 20  # of rows that are held in memory, about; some 450,000
MEMORY = "1GB"  # in which DuckDB sorts
_BATCH = 4096
_ROW_BYTES, _STRING_BYTES = 150, 50  # of a row without its strings, of a string without its characters


class Spill(Generic[Row]):
    """A multiset of rows. Iterate it, as often as wanted, for distinct rows in order with their counts.

    Rows of one spill have the same types, column by column, and no number below 0; `make` turns a tuple from a file
    into a row. What was flushed is found again by a spill of the same folder and name.
    """

    def __init__(
        self, folder: Path, name: str, *, make: Callable[[Any], Row] | None = None, max_bytes: int | None = None
    ) -> None:
        self.make: Callable[[Any], Row] = make or _as_it_is
        self.max_bytes = MAX_BYTES if max_bytes is None else max_bytes
        self.folder, self._name = folder, name
        self._pieces = sorted(folder.glob(f"{name}.[0-9]*.parquet"))  # of what did not fit into memory
        self._flushed = folder / f"{name}.rows"
        self._held: dict[Row, int] = {}
        self._bytes = 0  # of these, about
        self._copy: Path | None = None  # of the rest, for DuckDB

    def add(self, row: Row, count: int = 1) -> None:
        """Count a row."""
        self._copy = None
        before = self._held.get(row)
        if before is not None:
            self._held[row] = before + count
            return
        self._held[row] = count
        self._bytes += row_bytes(row)
        if self._bytes >= self.max_bytes:
            piece = self.folder / f"{self._name}.{len(self._pieces):06}.parquet"
            _write_parquet(piece, self._held)
            self._pieces.append(piece)
            self._held, self._bytes = {}, 0

    def update(self, rows: Iterable[tuple[Row, int]]) -> None:
        """Count many rows."""
        for row, count in rows:
            self.add(row, count)

    def __iter__(self) -> Iterator[tuple[Row, int]]:
        return merge_spills([self])

    def flush(self) -> None:
        """Write what is held in memory to a file."""
        if self._held:
            rows = [(tuple(row), count) for row, count in self.rest().items()]
            size = sum(row_bytes(row) for row, _ in rows)
            self._flushed.write_bytes(marshal.dumps(size) + marshal.dumps(rows))
            self._held, self._bytes = {}, 0

    def size(self) -> int:
        """Return how many bytes of memory all rows would take, about."""
        rest = self._bytes + len(self._pieces) * self.max_bytes
        if not self._flushed.exists():
            return rest
        with self._flushed.open("rb") as file:
            return int(marshal.load(file)) + rest

    def rest(self) -> Mapping[Row, int]:
        """Return the rows that are in no piece."""
        if not self._flushed.exists():
            return self._held
        with self._flushed.open("rb") as file:
            marshal.load(file)
            return _sum([marshal.load(file), self._held.items()])

    def files(self) -> list[Path]:
        """Return files of all rows, for DuckDB."""
        if self._copy is None and (rows := self.rest()):
            self._copy = self.folder / f"{self._name}.rest.parquet"
            _write_parquet(self._copy, rows)
        return [*self._pieces, *([self._copy] if self._copy else [])]


def merge_spills(spills: Sequence[Spill[Row]]) -> Iterator[tuple[Row, int]]:
    """Yield the distinct rows of several spills of one kind in order, with their counts."""
    if sum(spill.size() for spill in spills) < min((spill.max_bytes for spill in spills), default=1):
        counted = iter(sorted(_sum(spill.rest().items() for spill in spills).items()))
    else:
        counted = _merge_files([file for spill in spills for file in spill.files()], spills[0].folder)
    for row, count in counted:
        yield spills[0].make(row), count


def row_bytes(row: Row) -> int:
    """Return how many bytes of memory a row takes, about."""
    return _ROW_BYTES + sum([_STRING_BYTES + len(value) for value in row if value and isinstance(value, str)])


def _sum(several: Iterable[Iterable[tuple[Any, int]]]) -> dict[Any, int]:
    total: dict[Any, int] = {}
    for rows in several:
        for row, count in rows:
            total[row] = total.get(row, 0) + count
    return total


def _write_parquet(path: Path, rows: Mapping[Any, int]) -> None:
    # DuckDB finds the arrays by the name of the variable.
    columns = {
        f"column{number}": np.array(values, dtype=object if isinstance(values[0], str) else np.uint64)
        for number, values in enumerate(zip(*rows, strict=True))
    }
    columns["times"] = np.fromiter(rows.values(), np.int64, len(rows))
    with _duckdb(path.parent) as connection:
        connection.execute(f"copy (select * from columns) to {_quote(path)} (format parquet, compression lz4)")


def _merge_files(files: Sequence[Path], folder: Path) -> Iterator[tuple[Any, int]]:
    paths = ", ".join(map(_quote, files))
    query = f"select * exclude times, sum(times)::bigint from read_parquet([{paths}]) group by all order by all"
    with _duckdb(folder) as connection:
        result = connection.execute(query)
        while batch := result.fetchmany(_BATCH):
            for *row, count in batch:
                yield tuple(row), count


@contextmanager
def _duckdb(folder: Path) -> Iterator[Any]:
    try:
        import duckdb
    except ImportError as error:
        message = (
            f"more than {MAX_BYTES >> 20} MB of names, links or titles are merged by DuckDB; install parlink[build]"
        )
        raise ParlinkError(message) from error
    with duckdb.connect(config={"memory_limit": MEMORY, "threads": 1, "temp_directory": str(folder)}) as connection:
        connection.execute("set enable_progress_bar = false")  # it goes to the standard output
        yield connection


def _quote(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _as_it_is(row: Any) -> Any:
    return row
