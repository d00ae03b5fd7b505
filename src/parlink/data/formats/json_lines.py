"""parlink JSONL as a format among others: documents with any field for the text, titles through a knowledge base."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from parlink.data import files, jsonl
from parlink.data.formats.rows import DEFAULT, Fields, Rows, read_rows, to_document
from parlink.data.identifiers import Resolve
from parlink.types import Document


def read(
    path: Path | str,
    *,
    fields: Fields = DEFAULT,
    resolve: Resolve | None = None,
    losses: Counter[str] | None = None,
) -> Iterator[Document]:
    """Read a document a line."""
    return read_rows(rows(path, fields), resolve, losses)


def rows(path: Path | str, fields: Fields) -> Rows:
    """Yield what makes the document of each line."""
    for number, line in files.lines(path):
        yield number, partial(_make, line, fields, path, number)


def _make(line: bytes, fields: Fields, path: Path | str, number: int) -> Document:
    if fields == DEFAULT:
        return jsonl.decode(line, path=path, line=number)
    wanted = "each line must be one whole JSON object"
    row = jsonl.parse(line, dict[str, Any], path=path, line=number, wanted=wanted)
    return to_document(row, fields, path=path, line=number)


def write(path: Path | str, documents: Iterable[Document], *, losses: Counter[str] | None = None) -> None:
    """Write a document a line; nothing is lost."""
    jsonl.write(path, documents)
