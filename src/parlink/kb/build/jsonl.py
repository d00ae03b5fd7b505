"""JSON lines of entities, aliases, articles and parlink documents, told apart by their fields."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from parlink.data import files
from parlink.data import jsonl as documents
from parlink.errors import DataFormatError
from parlink.kb.build.entries import add_document, add_entry, add_page, make_entry, plain_name
from parlink.kb.build.facts import Batch

_BATCH = 10_000


class _PageLinks(msgspec.Struct):
    title: str
    links: list[str]


def read(path: Path, *, source: int, ignored: Collection[str] = ()) -> Iterator[Batch]:
    """Read a file in batches; a broken line is an error that names it."""
    batch = Batch()
    for number, raw in files.lines(path):
        _add_line(batch, raw, source=source, path=path, line=number, ignored=ignored)
        if batch.entries >= _BATCH:
            yield batch
            batch = Batch()
    yield batch


def read_page_links(path: Path) -> Iterator[Batch]:
    """Read lines of {"title", "links"}: what pages link to, for the link graph only."""
    batch = Batch()
    for number, raw in files.lines(path):
        batch.entries += 1
        batch.size += len(raw)
        try:
            page = msgspec.json.decode(raw, type=_PageLinks)
            title = plain_name(page.title, "title")
            add_page(batch, title, [title, *(plain_name(link, "link") for link in page.links)])
        except (ValueError, RecursionError) as error:
            message = f"not a page with its links, wanted {{'title', 'links': [titles]}}: {error}"
            raise DataFormatError(message, path=path, line=number) from error
        if batch.entries >= _BATCH:
            yield batch
            batch = Batch()
    yield batch


def is_document(values: dict[str, Any]) -> bool:
    """Whether it has a text, and no title or links, which make the title a field that we pass over."""
    return values.get("text") is not None and (values.get("title") is None or values.get("links") is not None)


def _add_line(batch: Batch, raw: bytes, *, source: int, path: Path, line: int, ignored: Collection[str]) -> None:
    batch.entries += 1
    batch.size += len(raw)
    try:
        values = msgspec.json.decode(raw, type=dict[str, Any])
        if is_document(values):
            add_document(batch, documents.from_json(values, path=path, line=line))
        else:
            add_entry(batch, make_entry(values, ignored=ignored), source=source)
    except (ValueError, RecursionError) as error:  # msgspec's errors are such; RecursionError: nested too deeply
        raise DataFormatError(f"not an entry of a knowledge base: {error}", path=path, line=line) from error
