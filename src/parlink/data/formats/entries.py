"""Documents with the place they come from; what is wrong with one is told in its place, and reading goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from parlink.data import formats
from parlink.data.formats import delimited, json_lines, json_list, text
from parlink.data.formats.rows import DEFAULT, Fields, Make, Rows, resolve_links
from parlink.data.identifiers import Resolve
from parlink.errors import DataFormatError, ParlinkError
from parlink.types import Document


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of a file, or what is wrong at the place where one should be."""

    path: str
    line: int | None = None  # None: the format has no lines, or a document is a file
    document: Document | None = None
    error: str | None = None


def read_entries(
    path: Path | str,
    format_name: str | None = None,
    *,
    fields: Fields = DEFAULT,
    resolve: Resolve | None = None,
) -> Iterator[Entry]:
    """Read the documents of a file, folder or pattern, as `formats.read` does, but go on behind broken ones.

    A line of JSON, an item of a list, a row of a table and a file of text can be broken alone. A file that breaks
    off, or whose format has no such parts, is an error that ends the reading.
    """
    for name in [str(path)] if format_name == "brat" else formats.expand(path):
        kind = format_name or formats.format_of(name)
        rows = _rows(kind, name, fields)
        if rows is not None:
            for line, make in rows:
                yield _try(make, name, line, resolve)
        elif fields != DEFAULT:
            raise ParlinkError(f"{name}: {kind} files have no fields; --text-field and --id-field are for tables")
        elif kind == "text":
            yield _try(partial(_read_text, name), name, None, None)
        else:
            for doc in formats.read(name, kind, resolve=resolve):
                yield Entry(name, None, doc)


def _rows(kind: str, path: str, fields: Fields) -> Rows | None:
    """The rows of a file, if its format has some."""
    if kind == "jsonl":
        return json_lines.rows(path, fields)
    if kind == "json":
        return json_list.rows(path, fields)
    if kind in ("csv", "tsv"):
        return delimited.rows(path, fields, delimiter="," if kind == "csv" else "\t")
    if kind == "parquet":
        from parlink.data.formats import parquet  # pyarrow is an extra, and large

        return parquet.rows(path, fields)
    return None


def _try(make: Make, path: str, line: int | None, resolve: Resolve | None) -> Entry:
    try:
        return Entry(path, line, resolve_links(make(), resolve, None))
    except DataFormatError as error:
        return Entry(path, line, error=error.reason)


def _read_text(path: str) -> Document:
    return next(text.read(path))
