"""Benchmarks as `{id, text, mentions: [{start, end, text, entity and/or qid and name}]}`, a document a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parlink.data import files, jsonl
from parlink.data.identifiers import Resolve, page_url, target
from parlink.errors import DataFormatError
from parlink.types import Document


def read(path: Path | str, *, resolve: Resolve | None = None, losses: Counter[str] | None = None) -> Iterator[Document]:
    """Read documents; a mention with neither entity nor qid is NIL, and other fields are kept in `extra`."""
    losses = Counter() if losses is None else losses
    for number, line in files.lines(path):
        value = jsonl.parse(line, dict[str, Any], path=path, line=number, wanted="wanted text and mentions")
        try:
            text = value["text"]
            links = [_link(mention, text, resolve, losses) for mention in value.pop("mentions")]
        except (KeyError, TypeError, AttributeError) as error:
            message = f"not a document with mentions ({type(error).__name__}: {error}); wanted text and mentions"
            raise DataFormatError(message, path=path, line=number) from error
        yield jsonl.from_json({**value, "id": str(value.get("id", "")), "links": links}, path=path, line=number)


def _link(mention: dict[str, Any], text: str, resolve: Resolve | None, losses: Counter[str]) -> dict[str, Any]:
    rest = dict(mention)
    surface = rest.pop("text", None)
    if surface is not None and surface != text[rest["start"] : rest["end"]]:
        losses["text of a mention that is not the text at its offsets (the offsets are used)"] += 1
    entity, number, name = (rest.pop(key, None) for key in ("entity", "qid", "name"))
    identifiers = [page_url(entity.replace("_", " "))] if entity else []
    identifiers += [number] if number else []
    told = target(identifiers, name=name, resolve=resolve, losses=losses)
    if name not in (None, told.title):
        rest["name"] = name
    return {**rest, "title": told.title, "id": told.id, "url": told.url}
