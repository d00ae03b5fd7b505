"""JSON lines of entities, aliases, articles and parlink documents, told apart by their fields."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from parlink.data import files
from parlink.data import jsonl as documents
from parlink.errors import DataFormatError
from parlink.kb.build.entries import Entry, add_document, add_entry
from parlink.kb.build.facts import Batch

_BATCH = 10_000


class _Shape(msgspec.Struct):
    title: msgspec.Raw = msgspec.Raw(b"null")
    text: msgspec.Raw = msgspec.Raw(b"null")
    links: msgspec.Raw = msgspec.Raw(b"null")

    @property
    def is_document(self) -> bool:
        """Whether it has a text, and no title or links, which make the title a field that we pass over."""
        return bytes(self.text) != b"null" and (bytes(self.title) == b"null" or bytes(self.links) != b"null")


def read(path: Path, *, source: int) -> Iterator[Batch]:
    """Read a file in batches; a broken line is an error that names it."""
    batch = Batch()
    for number, raw in files.lines(path):
        _add_line(batch, raw, source=source, path=path, line=number)
        if batch.entries >= _BATCH:
            yield batch
            batch = Batch()
    yield batch


def _add_line(batch: Batch, raw: bytes, *, source: int, path: Path, line: int) -> None:
    batch.entries += 1
    batch.size += len(raw)
    try:
        if msgspec.json.decode(raw, type=_Shape).is_document:
            add_document(batch, documents.decode(raw, path=path, line=line))
        else:
            add_entry(batch, msgspec.json.decode(raw, type=Entry), source=source)
    except (ValueError, RecursionError) as error:  # msgspec's errors are such; RecursionError: nested too deeply
        raise DataFormatError(f"not an entry of a knowledge base: {error}", path=path, line=line) from error
