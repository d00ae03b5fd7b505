"""CSV and TSV with a header: entities (title, id, description, aliases, count) or aliases (surface, title, count).

In the column `aliases` surfaces stand side by side with "|" between them, or as a JSON list as in JSONL.
CSV may quote fields; TSV has no quotes. Other columns are passed over.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from parlink.data import files
from parlink.errors import DataFormatError
from parlink.kb.build.entries import Entry, add_entry
from parlink.kb.build.facts import Batch

_BATCH = 10_000
_COLUMNS = tuple(field.name for field in msgspec.structs.fields(Entry) if field.name != "paragraphs")


class _Tabs(csv.excel_tab):
    quoting = csv.QUOTE_NONE


def read(path: Path, *, source: int) -> Iterator[Batch]:
    """Read a table in batches; a broken row is an error that names its line."""
    batch = Batch()
    rows = read_rows(path)
    _, header = next(rows, (1, []))
    if "title" not in header:
        wanted = f"wanted a header with a column 'title' (known: {', '.join(_COLUMNS)})"
        raise DataFormatError(f"{wanted}, got {header}", path=path, line=1)
    for number, row in rows:
        batch.entries += 1
        batch.size += sum(map(len, row)) + len(row)
        try:
            add_entry(batch, _entry(header, row), source=source)
        except ValueError as error:
            raise DataFormatError(f"not an entry of a knowledge base: {error}", path=path, line=number) from error
        if batch.entries >= _BATCH:
            yield batch
            batch = Batch()
    yield batch


def read_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table that are not blank, with the line on which each ends."""
    tabs = ".tsv" in path.suffixes
    lines = files.lines(path, blank=True)
    texts = (files.decoded(raw, path=path, line=number) + "\n" for number, raw in lines)
    rows = csv.reader(texts, _Tabs if tabs else csv.excel, strict=True)
    try:
        for row in rows:
            if any(row):
                yield rows.line_num, row
    except csv.Error as error:
        raise DataFormatError(f"broken table: {error}", path=path, line=rows.line_num) from error


def _entry(header: Sequence[str], row: Sequence[str]) -> Entry:
    if len(row) != len(header):
        raise ValueError(f"the row has {len(row)} fields, and the header {len(header)}")
    cells: dict[str, Any] = {name: cell for name, cell in zip(header, row, strict=True) if name in _COLUMNS and cell}
    if aliases := cells.get("aliases"):
        cells["aliases"] = msgspec.json.decode(aliases) if aliases.startswith("[") else aliases.split("|")
    return msgspec.convert({"title": "", **cells}, Entry, strict=False)
