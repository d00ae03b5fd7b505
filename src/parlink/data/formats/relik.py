"""ReLiK JSONL: `{"doc_id", "doc_text", "doc_span_annotations": [[start, end, title], ...]}`, a document a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parlink.data import files, jsonl
from parlink.data.identifiers import Resolve, page_url, target
from parlink.errors import DataFormatError
from parlink.types import Document

_WANTED = "wanted doc_text and doc_span_annotations with [start, end, title] in characters"


def read(path: Path | str, *, resolve: Resolve | None = None, losses: Counter[str] | None = None) -> Iterator[Document]:
    """Read documents; `--NME--` is NIL, and other fields are kept in `extra`."""
    for number, line in files.lines(path):
        value = jsonl.parse(line, dict[str, Any], path=path, line=number, wanted=_WANTED)
        annotations = value.pop("doc_span_annotations", None) or []
        value["text"], value["id"] = value.pop("doc_text", None), value.pop("doc_id", "")
        try:
            value["links"] = [_link(*annotation, resolve=resolve, losses=losses) for annotation in annotations]
        except (TypeError, AttributeError) as error:
            raise DataFormatError(f"not a document of ReLiK ({error}); {_WANTED}", path=path, line=number) from error
        yield jsonl.from_json(value, path=path, line=number)


def _link(start: int, end: int, label: str, *, resolve: Resolve | None, losses: Counter[str] | None) -> dict[str, Any]:
    identifiers = [label] if label == "--NME--" else [page_url(label.replace("_", " "))]
    told = target(identifiers, resolve=resolve, losses=losses)
    return {"start": start, "end": end, "title": told.title, "id": told.id, "url": told.url}
