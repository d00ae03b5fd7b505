"""Prodigy JSONL: links out as spans whose `kb_id` is the title, and accepted answers back in.

An answer of the `choice` interface is understood too: one span, options with an id each, and the one in `accept`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from parlink.data import files, jsonl
from parlink.data.formats.losses import count_losses, holds_only_type
from parlink.data.identifiers import Resolve, page_url, qid, target
from parlink.errors import DataFormatError
from parlink.types import Document, Link

_LABEL = "ENTITY"  # of a span without a type
_ID = "parlink_id"  # Prodigy's own ids are hashes
_RESERVED = ("tokens", "spans", "options", "accept", "answer", "meta", "text", _ID)


def read(path: Path | str, *, resolve: Resolve | None = None, losses: Counter[str] | None = None) -> Iterator[Document]:
    """Read the tasks whose answer is "accept", or that have none; a span without `kb_id` is NIL."""
    losses = Counter() if losses is None else losses
    for number, line in files.lines(path):
        task = jsonl.parse(line, dict[str, Any], path=path, line=number, wanted="wanted a task of Prodigy")
        if task.get("answer", "accept") != "accept":
            losses["task that was rejected or ignored in Prodigy (left out)"] += 1
            continue
        try:
            links = [_link(span, _chosen(task), resolve, losses) for span in task.get("spans") or []]
            extra = {name: value for name, value in task.items() if _is_free(name)}
            doc_id = task.get(_ID) or str((task.get("meta") or {}).get("id", ""))
        except (KeyError, TypeError, AttributeError) as error:
            message = f"not a task of Prodigy ({type(error).__name__}: {error}); wanted text and spans"
            raise DataFormatError(message, path=path, line=number) from error
        yield jsonl.from_json({**extra, "id": doc_id, "text": task.get("text"), "links": links}, path=path, line=number)


def write(path: Path | str, documents: Iterable[Document], *, losses: Counter[str] | None = None) -> None:
    """Write a task a line, for the `ner.manual` and `spans.manual` recipes."""
    losses = Counter() if losses is None else losses
    with files.open_output(path) as file:
        for doc in documents:
            count_losses(doc, losses, held=("id", "confidence", *_held_extra(doc)))
            spans = [_span(link) for link in doc.links]
            task = {"text": doc.text, "spans": spans, "meta": {"id": doc.id}, _ID: doc.id}
            file.write(msgspec.json.encode({**task, **_free_fields(doc)}) + b"\n")


def _held_extra(doc: Document) -> tuple[str, ...]:
    is_held = all(map(holds_only_type, doc.links)) and _free_fields(doc).keys() == doc.extra.keys()
    return ("extra",) if is_held else ()


def _free_fields(doc: Document) -> dict[str, Any]:
    return {name: value for name, value in doc.extra.items() if _is_free(name)}


def _is_free(name: str) -> bool:
    return name not in _RESERVED and not name.startswith("_")


def _chosen(task: dict[str, Any]) -> str | None:
    """Return the option that was chosen, or None where there was nothing to choose."""
    chosen = task.get("accept")
    return str(chosen[0]) if chosen and task.get("options") else None


def _link(span: dict[str, Any], chosen: str | None, resolve: Resolve | None, losses: Counter[str]) -> dict[str, Any]:
    entity = span.get("kb_id") or "" if chosen is None else "" if chosen.startswith("NIL") else chosen
    identifiers = [entity if qid(entity) else page_url(entity)] if entity else []
    if entity and span.get("entity", {}).get("title") == entity:  # not corrected
        identifiers += [str(span["entity"]["id"])]
    told = target(identifiers, resolve=resolve, losses=losses)
    link = {"start": span["start"], "end": span["end"], "title": told.title, "id": told.id}
    kind = {"type": span["label"]} if span.get("label") not in (None, _LABEL) else {}
    return {**link, **kind, **({"confidence": span["confidence"]} if "confidence" in span else {})}


def _span(link: Link) -> dict[str, Any]:
    kind = jsonl.link_to_json(link).get("type")
    span: dict[str, Any] = {"start": link.span.start, "end": link.span.end}
    span["label"] = kind if isinstance(kind, str) and kind else _LABEL
    if link.title is not None:
        span |= {"kb_id": link.title}
        span |= {} if link.id is None else {"entity": {"title": link.title, "id": link.id}}
    return span | ({} if link.confidence is None else {"confidence": link.confidence})
