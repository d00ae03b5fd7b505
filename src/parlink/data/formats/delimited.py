"""CSV and TSV: documents in, one a row under a header; links out, one a row."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from parlink.data import files, jsonl
from parlink.data.formats.losses import count_losses
from parlink.data.formats.rows import DEFAULT, Fields, Rows, check_columns, read_rows, to_document
from parlink.data.identifiers import Resolve
from parlink.errors import DataFormatError
from parlink.types import Document, Link

_NUMBERS = ("start", "end")
_OF_LINK = [name for name, kind in jsonl.LINK_FIELDS.items() if name not in ("id", *_NUMBERS) and kind is not list]
COLUMNS = ["document", *_NUMBERS, "mention", "title", "entity_id", *(name for name in _OF_LINK if name != "title")]


def read(
    path: Path | str,
    *,
    delimiter: str = ",",
    fields: Fields = DEFAULT,
    resolve: Resolve | None = None,
    losses: Counter[str] | None = None,
) -> Iterator[Document]:
    """Read a document a row; the first row names the columns, and every value is a string."""
    return read_rows(rows(path, fields, delimiter=delimiter), None, None)


def rows(path: Path | str, fields: Fields, *, delimiter: str = ",") -> Rows:
    """Yield what makes the document of each row below the header."""
    csv.field_size_limit(files.MAX_LINE)  # the module's own is 128 kB, less than a long text
    reader = csv.reader(_texts(path), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    try:
        for row in reader:
            if header is None:
                header = _check_header(row, path)
                check_columns(header, fields, path)
            elif row:
                yield reader.line_num, partial(_make, header, row, fields, path, reader.line_num)
    except csv.Error as error:
        raise DataFormatError(f"broken table: {error}", path=path, line=reader.line_num) from error


def _make(header: list[str], row: list[str], fields: Fields, path: Path | str, line: int) -> Document:
    if len(row) != len(header):
        message = f"the row has {len(row)} fields, and the header {len(header)}"
        raise DataFormatError(message, path=path, line=line)
    return to_document(dict(zip(header, row, strict=True)), fields, path=path, line=line)


def write(path: Path | str, documents: Iterable[Document], *, losses: Counter[str] | None = None) -> None:
    """Write a link a row: its document's id, its place, the mention and what it is linked to; not the text."""
    losses = Counter() if losses is None else losses
    with files.open_output(path) as file:
        file.write(_line(COLUMNS))
        for doc in documents:
            count_losses(doc, losses, held=("id", *_OF_LINK))
            losses["text of a document (a CSV of links holds mentions only)"] += 1
            for link in doc.links:
                file.write(_line(_cells(doc, link)))


def _texts(path: Path | str) -> Iterator[str]:
    for number, raw in files.lines(path, blank=True):  # a blank line may be inside a quoted text
        try:
            yield raw.decode()
        except UnicodeDecodeError as error:
            raise DataFormatError(f"not UTF-8: {error}; convert the file to UTF-8", path=path, line=number) from error


def _check_header(header: list[str], path: Path | str) -> list[str]:
    if len(set(header)) < len(header):
        raise DataFormatError(f"two columns have one name in {header}; rename one", path=path, line=1)
    return header


def _cells(doc: Document, link: Link) -> list[Any]:
    values = [getattr(link, name) for name in COLUMNS[6:]]
    surface = doc.text[link.span.start : link.span.end]
    return [doc.id, link.span.start, link.span.end, surface, link.title, link.id, *values]


def _line(cells: list[Any]) -> bytes:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue().encode()
