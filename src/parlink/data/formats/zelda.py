"""ZELDA JSONL: a document a line, with the lists `index`, `wikipedia_titles` and `wikipedia_ids` side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from parlink.data import files, jsonl
from parlink.data.formats.losses import count_losses
from parlink.data.identifiers import Resolve, page_url, target
from parlink.errors import DataFormatError
from parlink.types import Document


class _Document(msgspec.Struct):
    text: str
    index: list[tuple[int, int]]
    wikipedia_titles: list[str | None]
    wikipedia_ids: list[int | str | None] = []
    id: str | int = ""


def read(path: Path | str, *, resolve: Resolve | None = None, losses: Counter[str] | None = None) -> Iterator[Document]:
    """Read documents; the number of a Wikipedia page is kept in `extra` as `wikipedia_id`."""
    for number, line in files.lines(path):
        zelda = jsonl.parse(line, _Document, path=path, line=number, wanted="wanted text, index and wikipedia_titles")
        try:
            links = list(_links(zelda, resolve, losses))
        except ValueError as error:
            message = f"index, wikipedia_titles and wikipedia_ids are not of one length ({error})"
            raise DataFormatError(message, path=path, line=number) from error
        yield jsonl.from_json({"id": str(zelda.id), "text": zelda.text, "links": links}, path=path, line=number)


def write(path: Path | str, documents: Iterable[Document], *, losses: Counter[str] | None = None) -> None:
    """Write documents; a NIL mention has the title null; `losses` counts what ZELDA cannot hold."""
    losses = Counter() if losses is None else losses
    with files.open_output(path) as file:
        for doc in documents:
            page_ids = [link.extra.get("wikipedia_id") for link in doc.links]
            is_held = not doc.extra and all(link.extra.keys() <= {"wikipedia_id"} for link in doc.links)
            count_losses(doc, losses, held=("extra",) if is_held else ())
            value = {
                "id": doc.id,
                "text": doc.text,
                "index": [[link.span.start, link.span.end] for link in doc.links],
                "wikipedia_titles": [link.title for link in doc.links],
                "wikipedia_ids": page_ids,
            }
            file.write(msgspec.json.encode(value) + b"\n")


def _links(zelda: _Document, resolve: Resolve | None, losses: Counter[str] | None) -> Iterator[dict[str, Any]]:
    page_ids = zelda.wikipedia_ids or [None] * len(zelda.index)
    for (start, end), title, page_id in zip(zelda.index, zelda.wikipedia_titles, page_ids, strict=True):
        told = target([page_url(title)] if title else [], resolve=resolve, losses=losses)
        extra = {} if page_id is None else {"wikipedia_id": page_id}
        yield {"start": start, "end": end, "title": told.title, **extra}
