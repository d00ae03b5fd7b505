"""Tables with a header (CSV, TSV, Parquet), a row an entity or an alias; and plain lists of titles, one a line.

The columns are the keys of `entries`. In `aliases` and `links` names stand side by side with "|" between them, or as
a JSON list; in Parquet they may be lists. CSV may quote fields; TSV has no quotes.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from parlink.data import files
from parlink.errors import DataFormatError, ParlinkError
from parlink.kb.build.entries import KEYS, SYNONYMS, add_entry, check_keys, make_entry
from parlink.kb.build.facts import Batch

_BATCH = 10_000
_LISTS = ("aliases", "links")
_NUMBERS = ("id", "count")
_COLUMNS = [key for key in KEYS if key != "paragraphs"]
Row = tuple[int, dict[str, Any]]  # the line on which it ends, and the cells that are not empty


class _Tabs(csv.excel_tab):
    quoting = csv.QUOTE_NONE


def read(path: Path, *, source: int, ignored: Collection[str] = ()) -> Iterator[Batch]:
    """Read CSV or TSV in batches; a broken row is an error that names its line."""
    return _read_rows(_text_rows(path, ignored), path, source=source, ignored=ignored)


def read_parquet(path: Path, *, source: int, ignored: Collection[str] = ()) -> Iterator[Batch]:
    """Read a Parquet file in batches; a broken row is an error that names its number."""
    return _read_rows(_parquet_rows(path, ignored), path, source=source, ignored=ignored)


def read_list(path: Path, *, source: int) -> Iterator[Batch]:
    """Read a list of titles in batches; blank lines are passed over."""
    lines = files.lines(path)
    rows = ((number, {"title": files.decode(raw, path=path, line=number)}) for number, raw in lines)
    return _read_rows(rows, path, source=source)


def _read_rows(rows: Iterable[Row], path: Path, *, source: int, ignored: Collection[str] = ()) -> Iterator[Batch]:
    batch = Batch()
    for number, cells in rows:
        batch.entries += 1
        batch.size += sum(len(cell) + 1 if isinstance(cell, str) else 8 for cell in cells.values())
        try:
            add_entry(batch, make_entry({"title": "", **cells}, strict=False, ignored=ignored), source=source)
        except ValueError as error:
            raise DataFormatError(f"not an entry of a knowledge base: {error}", path=path, line=number) from error
        if batch.entries >= _BATCH:
            yield batch
            batch = Batch()
    yield batch


def text_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of CSV or TSV that are not blank, with the line on which each ends."""
    tabs = ".tsv" in path.suffixes
    lines = files.lines(path, blank=True)
    texts = (files.decode(raw, path=path, line=number) + "\n" for number, raw in lines)
    rows = csv.reader(texts, _Tabs if tabs else csv.excel, strict=True)
    try:
        for row in rows:
            if any(row):
                yield rows.line_num, row
    except csv.Error as error:
        raise DataFormatError(f"broken table: {error}", path=path, line=rows.line_num) from error


def _text_rows(path: Path, ignored: Collection[str]) -> Iterator[Row]:
    rows = text_rows(path)
    _, header = next(rows, (1, []))
    columns = _check_header(header, path, ignored)
    for number, row in rows:
        if len(row) != len(header):
            message = f"the row has {len(row)} fields, and the header {len(header)}"
            raise DataFormatError(f"not an entry of a knowledge base: {message}", path=path, line=number)
        try:
            yield number, {name: _parse(name, cell) for name, cell in zip(columns, row, strict=True) if cell}
        except msgspec.DecodeError as error:
            raise DataFormatError(f"a list that is no JSON: {error}", path=path, line=number) from error


def _parquet_rows(path: Path, ignored: Collection[str]) -> Iterator[Row]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ParlinkError(f"{path}: Parquet files need pyarrow; install parlink[tables]") from error
    try:
        with parquet.ParquetFile(path) as file:
            columns = _check_header(file.schema_arrow.names, path, ignored)
            number = 0
            for batch in file.iter_batches(batch_size=_BATCH):
                for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    number += 1
                    cells = zip(columns, row, strict=True)
                    yield number, {name: _parse(name, cell) for name, cell in cells if cell is not None and cell != ""}
    except (pyarrow.ArrowException, OSError, msgspec.DecodeError) as error:
        raise DataFormatError(f"not a Parquet file that can be read: {error}", path=path) from error


def _check_header(header: Collection[str], path: Path, ignored: Collection[str]) -> list[str]:
    """Return the columns by our names."""
    try:
        check_keys(header, ignored=ignored, what="column")
    except ValueError as error:
        raise DataFormatError(str(error), path=path, line=1) from error
    columns = [SYNONYMS.get(name, name) for name in header]
    if "title" not in columns:
        wanted = f"wanted a header with a column 'title' or 'name' (known: {', '.join(_COLUMNS)})"
        raise DataFormatError(f"{wanted}, got {list(header)}", path=path, line=1)
    return columns


def _parse(name: str, cell: Any) -> Any:
    """Return the value of a cell: a list where the column has such, else a string or a number."""
    if name in _LISTS and isinstance(cell, str):
        return msgspec.json.decode(cell) if cell.startswith("[") else [each for each in cell.split("|") if each.strip()]
    return cell if name in (*_LISTS, *_NUMBERS) else str(cell)
