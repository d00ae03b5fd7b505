"""parlink JSONL as a format among others: documents with any field for the text, titles through a knowledge base."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from parlink.data import files, jsonl
from parlink.data.formats.rows import DEFAULT, Fields, resolve_links, to_document
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
    for number, line in files.lines(path):
        if fields == DEFAULT:
            doc = jsonl.decode(line, path=path, line=number)
        else:
            wanted = "each line must be one whole JSON object"
            row = jsonl.parse(line, dict[str, Any], path=path, line=number, wanted=wanted)
            doc = to_document(row, fields, path=path, line=number)
        yield resolve_links(doc, resolve, losses)


def write(path: Path | str, documents: Iterable[Document], *, losses: Counter[str] | None = None) -> None:
    """Write a document a line; nothing is lost."""
    jsonl.write(path, documents)
