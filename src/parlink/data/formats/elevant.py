"""ELEVANT JSONL: an article a line, gold in `labels`, a linker's predictions in `entity_mentions`.

What ELEVANT has no field for (scores, candidates, ids that are no numbers, ...) stands under a key of our own,
which ELEVANT passes over, so that nothing is lost. Fields that only ELEVANT knows are kept in `extra`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from parlink.data import files, jsonl
from parlink.data.identifiers import Resolve, page_url, target
from parlink.errors import DataFormatError
from parlink.types import Candidate, Document, Link

Part = Literal["labels", "entity_mentions"]

_OURS = "parlink"
_ABSENT = "parlink_absent"  # names of fields that a reader would make of ELEVANT's own, and that are not there
_NO_VALUE = object()
_NIL = "<NIL>"
_NIL_NAME = "Unknown"
_ENTITY_KEY = {"labels": "entity_id", "entity_mentions": "id"}
_DEFAULTS: dict[str, dict[str, Any]] = {
    "labels": {"parent": None, "children": [], "optional": False},
    "entity_mentions": {"recognized_by": "parlink", "linked_by": "parlink"},
}


def read(
    path: Path | str, *, part: Part | None = None, resolve: Resolve | None = None, losses: Counter[str] | None = None
) -> Iterator[Document]:
    """Read articles; without `part`, the labels of an article, or its predictions where it has no labels."""
    for number, line in files.lines(path):
        article = jsonl.parse(line, dict[str, Any], path=path, line=number, wanted="wanted an article of ELEVANT")
        try:
            read_part: Part = part or ("labels" if "labels" in article else "entity_mentions")
            plain = _document(article, read_part, resolve, losses)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            message = f"not an ELEVANT article ({type(error).__name__}: {error}); wanted text, and labels with spans"
            raise DataFormatError(message, path=path, line=number) from error
        yield jsonl.from_json(plain, path=path, line=number)


def write(path: Path | str, documents: Iterable[Document], *, part: Part = "labels") -> None:
    """Write articles with the links as labels or as predictions."""
    with files.open_output(path) as file:
        for number, doc in enumerate(documents):
            file.write(msgspec.json.encode(_article(doc, number, part)) + b"\n")


def _document(
    article: dict[str, Any], part: Part, resolve: Resolve | None, losses: Counter[str] | None
) -> dict[str, Any]:
    """Turn an article into plain data of parlink JSONL."""
    rest = {key: value for key, value in article.items() if key not in ("id", part, _OURS, _ABSENT)}
    value = {"id": str(article.get("id", "")), **rest, **article.get(_OURS, {})}
    if rest.get("evaluation_span") == [0, len(rest["text"])]:
        del value["evaluation_span"]
    if rest.get("title") == value["id"]:
        del value["title"]
    value["links"] = [
        _link(mention, number, part, resolve, losses) for number, mention in enumerate(article.get(part) or [])
    ]
    return _without(value, article.get(_ABSENT, ()))


def _link(
    mention: dict[str, Any], number: int, part: Part, resolve: Resolve | None, losses: Counter[str] | None
) -> dict[str, Any]:
    rest = dict(mention)
    start, end = rest.pop("span")
    entity = rest.pop(_ENTITY_KEY[part], None)
    name = rest.pop("name", None)
    ours, absent = rest.pop(_OURS, {}), rest.pop(_ABSENT, ())
    identifier = page_url(name) if entity and entity == name else entity  # no id, only a title
    told = target([identifier] if identifier else [], name=name, resolve=resolve, losses=losses)
    rest = {key: value for key, value in rest.items() if value != _DEFAULTS[part].get(key, _NO_VALUE)}
    value = {"start": start, "end": end, "title": told.title, "id": told.id, "url": told.url}
    if part == "labels" and rest.get("id") == number:
        del rest["id"]
    elif "id" in rest:
        rest["label"] = rest.pop("id")
    if part == "entity_mentions":
        value["candidates"] = [jsonl.candidate_to_json(_candidate(text)) for text in rest.pop("candidates", [])]
    if name not in (None, told.title) and not (told.title is None and name == _NIL_NAME):
        rest["name"] = name
    return _without({**value, **rest, **ours}, absent)


def _candidate(text: str) -> Candidate:
    told = target([text])
    return Candidate(told.title or text, told.id, url=told.url)


def _article(doc: Document, number: int, part: Part) -> dict[str, Any]:
    article = {
        "id": int(doc.id) if doc.id.isascii() and doc.id.isdecimal() and len(doc.id) < 19 else number,
        "title": doc.id,
        "text": doc.text,
        "evaluation_span": [0, len(doc.text)],
        **{key: value for key, value in doc.extra.items() if key != part},
    }
    ours = {} if str(article["id"]) == doc.id else {"id": doc.id}
    read_again = _document({**article, _OURS: ours}, part, None, None)
    article[part] = [_mention(link, place, part) for place, link in enumerate(doc.links)]
    return {**article, **_corrections({"id": "", **jsonl.to_json(doc)}, read_again, ours)}


def _mention(link: Link, number: int, part: Part) -> dict[str, Any]:
    extra = dict(link.extra) | ({} if link.type is None else {"type": link.type})
    mention: dict[str, Any] = {"id": extra.pop("label", number)} if part == "labels" else {}
    mention["span"] = [link.span.start, link.span.end]
    mention[_ENTITY_KEY[part]] = _NIL if link.title is None else link.id or link.title
    mention["name"] = _NIL_NAME if link.title is None else link.title
    if part == "entity_mentions":
        mention["candidates"] = [candidate.id or candidate.title for candidate in link.candidates]
    mention = {**mention, **_DEFAULTS[part], **extra}
    return {**mention, **_corrections(jsonl.link_to_json(link), _link(mention, number, part, None, None), {})}


def _corrections(wanted: dict[str, Any], read_again: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """Return what our own keys must say, beside what they say already, so that a reader gets what is wanted."""
    if not read_again.get("candidates"):
        read_again.pop("candidates", None)
    ours |= {key: value for key, value in wanted.items() if key != "links" and value != read_again.get(key, _NO_VALUE)}
    absent = [key for key, value in read_again.items() if key not in wanted and key != "links" and value is not None]
    return ({_OURS: ours} if ours else {}) | ({_ABSENT: absent} if absent else {})


def _without(value: dict[str, Any], absent: Iterable[str]) -> dict[str, Any]:
    return {key: field for key, field in value.items() if key not in absent}
