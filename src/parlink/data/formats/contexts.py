"""KILT and BLINK: one mention a line, between the text on its left and that on its right.

Each line becomes a document with one mention; where the line has no answer, the mention is a span to disambiguate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parlink.data import files, jsonl
from parlink.data.identifiers import Resolve, page_url, target
from parlink.errors import DataFormatError
from parlink.types import Document

_START, _END = "[START_ENT]", "[END_ENT]"


def read_kilt(
    path: Path | str, *, resolve: Resolve | None = None, losses: Counter[str] | None = None
) -> Iterator[Document]:
    """Read KILT's entity linking: `{"id", "input": "... [START_ENT] mention [END_ENT] ...", "output": [{"answer"}]}`.

    The number of the gold page is kept in the link's `wikipedia_id`, and titles under `candidates` are its candidates.
    """
    for number, line in files.lines(path):
        value = jsonl.parse(line, dict[str, Any], path=path, line=number, wanted="wanted id, input and output")
        try:
            left, _, rest = value["input"].partition(_START)
            mention, mark, right = rest.partition(_END)
            if not mark:
                raise ValueError(f"the input has no {_START} and {_END}; parlink reads KILT's entity linking only")
            answer = next((output for output in value.get("output") or [] if output.get("answer")), None)
            link = None if answer is None else _kilt_link(answer, value.get("candidates") or [], resolve, losses)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataFormatError(f"not a line of KILT ({error})", path=path, line=number) from error
        parts = (left.strip(), mention.strip(), right.strip())
        yield _document(str(value.get("id", "")), parts, link, path=path, line=number)


def read_blink(
    path: Path | str, *, resolve: Resolve | None = None, losses: Counter[str] | None = None
) -> Iterator[Document]:
    """Read BLINK: `{"context_left", "mention", "context_right", "label_title"}`; a label "unknown" is no answer."""
    for number, line in files.lines(path):
        value = jsonl.parse(line, dict[str, Any], path=path, line=number, wanted="wanted context_left and mention")
        try:
            parts = (value["context_left"].strip(), value["mention"].strip(), value["context_right"].strip())
            title = value.get("label_title") or value.get("label")
            link = None if title in (None, "", "unknown") else _link(title, resolve, losses)
        except (KeyError, TypeError, AttributeError) as error:
            raise DataFormatError(f"not a line of BLINK ({error})", path=path, line=number) from error
        doc_id = value.get("id", value.get("query_id", number))
        yield _document(str(doc_id), parts, link, path=path, line=number)


def _kilt_link(
    answer: dict[str, Any], candidates: list[str], resolve: Resolve | None, losses: Counter[str] | None
) -> dict[str, Any]:
    link = _link(answer["answer"], resolve, losses)
    page = next((page["wikipedia_id"] for page in answer.get("provenance") or [] if page.get("wikipedia_id")), None)
    link |= {"candidates": [{"title": title} for title in candidates]} if candidates else {}
    return link | ({"wikipedia_id": page} if page is not None else {})


def _link(title: str, resolve: Resolve | None, losses: Counter[str] | None) -> dict[str, Any]:
    told = target([page_url(title.replace("_", " "))], resolve=resolve, losses=losses)
    return {"title": told.title, "id": told.id}


def _document(
    doc_id: str, parts: tuple[str, str, str], link: dict[str, Any] | None, *, path: Path | str, line: int
) -> Document:
    """Join the parts by single spaces, as they were cut at tokens."""
    left, mention, _ = parts
    text = " ".join(part for part in parts if part)
    start = len(left) + 1 if left else 0
    span = {"start": start, "end": start + len(mention)}
    mentions = {"spans": [span]} if link is None else {"links": [span | link]}
    return jsonl.from_json({"id": doc_id, "text": text, **mentions}, path=path, line=line)
