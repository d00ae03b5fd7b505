"""parlink JSONL: one document a line, the shape of gold data, predictions, training data and HTTP bodies."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import msgspec

from parlink.data import files
from parlink.errors import DataFormatError, ParlinkError
from parlink.types import Candidate, Document, Link, Span

T = TypeVar("T")
Kinds = Mapping[str, type]


def _simple_fields(kind: type) -> dict[str, type]:
    """Return the fields of a dataclass that are a string or a number, None aside."""
    simple: dict[object, type] = {str: str, str | None: str, float | None: float}
    return {name: simple[hint] for name, hint in get_type_hints(kind).items() if hint in simple}


CANDIDATE_FIELDS: Kinds = _simple_fields(Candidate)
LINK_FIELDS: Kinds = {"start": int, "end": int, **_simple_fields(Link), "candidates": list}
DOCUMENT_FIELDS: Kinds = {**_simple_fields(Document), "links": list, "spans": list}
_OPTIONAL_OF_CANDIDATE = [name for name in CANDIDATE_FIELDS if name != "title"]
_OPTIONAL_OF_LINK = [name for name, kind in LINK_FIELDS.items() if name != "title" and kind in (str, float)]
# What files written before 0.2 call the same.
_OLD_OF_LINK = {"score": "confidence", "detection": "mention_logit", "probability": "mention_probability"}
_OLD_OF_CANDIDATE = {"step": "match_type"}
_KIND_NAMES = {str: "a string", int: "an integer", float: "a number", list: "a list"}


def read(path: Path | str) -> Iterator[Document]:
    """Read documents one by one; blank lines are passed over, a broken line is an error that names it."""
    for number, line in files.lines(path):
        yield decode(line, path=path, line=number)


def write(path: Path | str, documents: Iterable[Document]) -> None:
    """Write documents, a line each; the file appears under its name only when it is complete."""
    with files.open_output(path) as file:
        for doc in documents:
            file.write(encode(doc))


def decode(raw: bytes | str, *, path: Path | str = "<document>", line: int | None = None) -> Document:
    """Read a document from one line of JSON; `path` and `line` are named in errors."""
    value = parse(raw, object, path=path, line=line, wanted="each line must be one whole JSON object")
    return from_json(value, path=path, line=line)


def parse(raw: bytes | str, kind: type[T], *, path: Path | str, line: int | None = None, wanted: str) -> T:
    """Read JSON into a type; an error names the file and says what was `wanted`."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:  # RecursionError: nested too deeply
        raise DataFormatError(f"not valid JSON in UTF-8: {error}; {wanted}", path=path, line=line) from error


def encode(doc: Document) -> bytes:
    """Write a document as one line of JSON, the line end included."""
    try:
        return msgspec.json.encode(to_json(doc)) + b"\n"
    except UnicodeEncodeError as error:
        raise ParlinkError(f"document {doc.id!r} has a lone surrogate, which UTF-8 cannot hold; remove it") from error


def to_json(doc: Document) -> dict[str, Any]:
    """Turn a document into plain data; fields at their default are left out, but a link always has its title."""
    value: dict[str, Any] = {"id": doc.id} if doc.id else {}
    value["text"] = doc.text
    if doc.links:
        value["links"] = [link_to_json(link) for link in doc.links]
    if doc.spans is not None:
        value["spans"] = [{"start": span.start, "end": span.end} for span in doc.spans]
    _put(value, doc, ("kb", "error"))
    return _with_extra(value, doc.extra, DOCUMENT_FIELDS)


def from_json(value: object, *, path: Path | str | None = None, line: int | None = None) -> Document:
    """Turn plain data into a document; unknown fields are kept in `extra`, and null means absent.

    An error names the file, or else the document by its id.
    """
    try:
        return _document(value)
    except _ShapeError as error:
        raise DataFormatError(str(error), path=_name(value) if path is None else path, line=line) from error


def _name(value: object) -> str:
    """What a document is called that is in no file."""
    name = value.get("id") if isinstance(value, dict) else None
    return f"<document {_shown(name)}>" if isinstance(name, str | int) and name != "" else "<document>"


class _ShapeError(Exception):
    """What is wrong with a value, and where in the document it is."""


def _document(value: object) -> Document:
    known, extra = _fields(_with_string_id(value), DOCUMENT_FIELDS, "the document")
    if "text" not in known:
        others = f", but {', '.join(map(repr, value))}" if isinstance(value, dict) and 0 < len(value) < 10 else ""
        raise _ShapeError(f"the document has no text{others}; every document needs a string 'text'")
    text: str = known["text"]
    _check_encodable(text)
    if "links" in known:
        known["links"] = _each(_link, known["links"], "links", len(text))
    if "spans" in known:
        known["spans"] = _each(_span, known["spans"], "spans", len(text))
    return Document(**known, extra=extra)


def _link(value: object, where: str, length: int) -> Link:
    known, extra = _fields(_with_new_names(value, _OLD_OF_LINK), LINK_FIELDS, where)
    span = _bounds(known.pop("start", None), known.pop("end", None), where, length)
    known["candidates"] = _each(_candidate, known.get("candidates", []), f"{where}.candidates", length)
    return Link(span, **known, extra=extra)


def _candidate(value: object, where: str, _length: int) -> Candidate:
    known, extra = _fields(_with_new_names(value, _OLD_OF_CANDIDATE), CANDIDATE_FIELDS, where)
    if "title" not in known:
        raise _ShapeError(f"{where} has no title; every candidate needs one")
    return Candidate(**known, extra=extra)


def _span(value: object, where: str, length: int) -> Span:
    if isinstance(value, list) and len(value) == 2:
        return _bounds(value[0], value[1], where, length)
    known, _ = _fields(value, {"start": int, "end": int}, where)
    return _bounds(known.get("start"), known.get("end"), where, length)


def _bounds(start: object, end: object, where: str, length: int) -> Span:
    if type(start) is not int or type(end) is not int:
        raise _ShapeError(f"{where} needs integers 'start' and 'end', got {start!r} and {end!r}")
    if not 0 <= start < end <= length:
        message = f"{where} is the span [{start}, {end}) of a text of {length} characters; "
        raise _ShapeError(message + "wanted 0 <= start < end <= length, in Unicode code points")
    return Span(start, end)


def _fields(value: object, kinds: Kinds, where: str) -> tuple[dict[str, Any], dict[str, Any]]:
    if not isinstance(value, dict):
        raise _ShapeError(f"{where} must be a JSON object, got {_shown(value)}")
    known: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for name, field in value.items():
        kind = kinds.get(name)
        if kind is None:
            extra[name] = field
        elif type(field) is kind:
            known[name] = field
        elif kind is float and type(field) is int and abs(field) < 1e300:
            known[name] = float(field)
        elif field is not None:
            raise _ShapeError(f"{where}: {name} must be {_KIND_NAMES[kind]}, got {_shown(field)}")
    return known, extra


def _with_string_id(value: object) -> object:
    """The same object; an id that is an integer, as tables have it, becomes a string."""
    if isinstance(value, dict) and type(value.get("id")) is int:
        return {**value, "id": str(value["id"])}
    return value


def _with_new_names(value: object, old: Mapping[str, str]) -> object:
    """The same object under the names of now; one that has both an old name and its new one is left as it is."""
    if not isinstance(value, dict) or not old.keys() & value.keys():
        return value
    return {old[name] if name in old and old[name] not in value else name: field for name, field in value.items()}


def _each(make: Callable[[object, str, int], T], values: list[object], where: str, length: int) -> tuple[T, ...]:
    return tuple([make(value, f"{where}[{index}]", length) for index, value in enumerate(values)])


def _check_encodable(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _ShapeError(f"text has a lone surrogate at character {error.start}; remove it") from error


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def link_to_json(link: Link) -> dict[str, Any]:
    """Turn a link into plain data."""
    value: dict[str, Any] = {"start": link.span.start, "end": link.span.end, "title": link.title}
    _put(value, link, _OPTIONAL_OF_LINK)
    if link.candidates:
        value["candidates"] = [candidate_to_json(candidate) for candidate in link.candidates]
    return _with_extra(value, link.extra, LINK_FIELDS)


def candidate_to_json(candidate: Candidate) -> dict[str, Any]:
    """Turn a candidate into plain data."""
    value: dict[str, Any] = {"title": candidate.title}
    _put(value, candidate, _OPTIONAL_OF_CANDIDATE)
    return _with_extra(value, candidate.extra, CANDIDATE_FIELDS)


def _put(value: dict[str, Any], item: object, names: Iterable[str]) -> None:
    for name in names:
        field = getattr(item, name)
        if field is None:
            continue
        if isinstance(field, float) and not math.isfinite(field):
            raise ParlinkError(f"{name} is {field}, which JSON cannot hold; give a finite number or None")
        value[name] = field


def _with_extra(value: dict[str, Any], extra: Mapping[str, Any], kinds: Kinds) -> dict[str, Any]:
    if not extra:
        return value
    if clash := kinds.keys() & extra.keys():
        raise ParlinkError(f"extra holds {sorted(clash)}, which are fields of their own; set them there")
    return {**value, **extra}
