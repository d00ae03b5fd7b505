"""Label Studio: links out as predictions to correct, and the corrected annotations back in.

A mention is a region of `<Labels name="label" toName="text">` over `<Text name="text" value="$text">`, and its title
the region's own `<TextArea name="entity" toName="text" perRegion="true">`; an empty one is NIL. Offsets are code
points, as Label Studio has them since 1.4; those of older versions are known by the text that stands beside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from parlink.data import jsonl
from parlink.data.formats import json_list
from parlink.data.formats.losses import count_losses, holds_only_type
from parlink.data.identifiers import Resolve, page_url, target
from parlink.errors import DataFormatError
from parlink.types import Document, Link

_LABEL = "Entity"  # of a mention without a type


def read(path: Path | str, *, resolve: Resolve | None = None, losses: Counter[str] | None = None) -> Iterator[Document]:
    """Read tasks: the last annotation that was not canceled, or the first prediction where nobody has annotated."""
    losses = Counter() if losses is None else losses
    for line, task in json_list.items(path):
        try:
            fields = dict(task["data"])
            regions = _regions(task)
            if regions is None:
                losses["task that was skipped in Label Studio (left out)"] += 1
                continue
            links = [_link(group, fields["text"], resolve, losses) for group in _by_id(regions).values()]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            message = f"not a task of Label Studio ({type(error).__name__}: {error}); wanted data.text and annotations"
            raise DataFormatError(message, path=path, line=line) from error
        yield jsonl.from_json({**fields, "links": [link for link in links if link]}, path=path, line=line)


def write(path: Path | str, documents: Iterable[Document], *, losses: Counter[str] | None = None) -> None:
    """Write a list of tasks with the links as predictions; the fields of a document are fields of `data`."""
    losses = Counter() if losses is None else losses
    json_list.write_items(path, (msgspec.json.encode(_task(doc, losses)) for doc in documents))


def _regions(task: dict[str, Any]) -> list[dict[str, Any]] | None:
    annotations = task.get("annotations") or []
    if annotations:
        finished = [annotation for annotation in annotations if not annotation.get("was_cancelled")]
        if not finished:
            return None
        return [{**region, "score": None} for region in finished[-1]["result"]]  # a model's, whatever was corrected
    predictions = task.get("predictions") or []
    return list(predictions[0]["result"]) if predictions else []


def _by_id(regions: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Put what is said of one region together; relations have no id."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for region in regions:
        if "id" in region and region["type"] in ("labels", "textarea"):
            groups.setdefault(region["id"], []).append(region)
    return groups


def _link(
    group: list[dict[str, Any]], text: str, resolve: Resolve | None, losses: Counter[str]
) -> dict[str, Any] | None:
    values = {region["type"]: region["value"] for region in group}
    scores = [region["score"] for region in group if region.get("score") is not None]
    if "labels" not in values:
        losses["Label Studio region without a label (left out)"] += 1
        return None
    mention = values["labels"]
    titles = [title.strip() for title in values.get("textarea", {}).get("text", []) if title.strip()]
    told = target([page_url(titles[0])] if titles else [], resolve=resolve, losses=losses)
    start, end = _offsets(int(mention["start"]), int(mention["end"]), mention.get("text"), text, losses)
    kind = {"type": mention["labels"][0]} if mention["labels"][:1] != [_LABEL] else {}
    return {"start": start, "end": end, "title": told.title, "confidence": scores[0] if scores else None, **kind}


def _offsets(start: int, end: int, surface: str | None, text: str, losses: Counter[str]) -> tuple[int, int]:
    """Return code points, whether the offsets are such or count UTF-16, as JavaScript does."""
    if surface is None or text[start:end] == surface:
        return start, end
    wide = text.encode("utf-16-le")
    if wide[2 * start : 2 * end] == surface.encode("utf-16-le"):
        first = len(wide[: 2 * start].decode("utf-16-le"))
        return first, first + len(surface)
    losses["text of a mention that is not the text at its offsets (the offsets are used)"] += 1
    return start, end


def _task(doc: Document, losses: Counter[str]) -> dict[str, Any]:
    fields = {name: value for name, value in jsonl.to_json(doc).items() if name != "links"}
    for link in doc.links:
        held = ("confidence", "extra") if holds_only_type(link) else ("confidence",)
        count_losses(Document("", links=(link,)), losses, held=held)
    result = [region for number, link in enumerate(doc.links) for region in _result(doc.text, link, f"m{number}")]
    return {"data": fields, "predictions": [{"model_version": "parlink", "result": result}]}


def _result(text: str, link: Link, region: str) -> Iterator[dict[str, Any]]:
    place = {"start": link.span.start, "end": link.span.end}
    names = {"id": region, "to_name": "text"}
    labels = {**place, "text": text[link.span.start : link.span.end], "labels": [_kind(link)]}
    score = {} if link.confidence is None else {"score": link.confidence}
    yield {**names, "from_name": "label", "type": "labels", "value": labels, **score}
    if link.title is not None:
        yield {**names, "from_name": "entity", "type": "textarea", "value": {**place, "text": [link.title]}}


def _kind(link: Link) -> str:
    kind = jsonl.link_to_json(link).get("type")
    return kind if isinstance(kind, str) and kind else _LABEL
