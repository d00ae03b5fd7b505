"""A document from a row of a table or an object of JSON: which field is the text, which the id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from parlink.data import jsonl
from parlink.data.identifiers import UNKNOWN, Resolve
from parlink.errors import DataFormatError
from parlink.types import Document, Link


@dataclass(frozen=True, slots=True)
class Fields:
    """The names of the fields that hold a document's text and its id."""

    text: str = "text"
    id: str = "id"


DEFAULT = Fields()
Make = Callable[[], Document]  # makes the document of a row, or raises DataFormatError
Rows = Iterable[tuple[int, Make]]  # the line on which each row stands, and what makes its document


def read_rows(rows: Rows, resolve: Resolve | None, losses: Counter[str] | None) -> Iterator[Document]:
    """Make the documents of rows; a broken row is the end."""
    for _, make in rows:
        yield resolve_links(make(), resolve, losses)


def check_columns(names: Iterable[str], fields: Fields, path: Path | str) -> None:
    """Refuse a table whose rows all lack a text, before the first of them."""
    columns = list(names)
    if fields.text not in columns:
        shown = ", ".join(map(repr, columns)) or "none"
        message = f"no text: no field {fields.text!r} for the text; it has {shown}; --text-field names the one to read"
        raise DataFormatError(message, path=path)


def to_document(row: Mapping[str, Any], fields: Fields, *, path: Path | str, line: int | None = None) -> Document:
    """Make a document of a row; fields that parlink does not know stay as they are, in `extra`."""
    value = dict(row)
    for name, given in (("text", fields.text), ("id", fields.id)):
        if given == name:
            continue
        if given not in value:
            message = f"no field {given!r} for the {name}; it has {', '.join(map(repr, row)) or 'none'}"
            raise DataFormatError(message, path=path, line=line)
        if name in value:
            message = f"has a field {name!r} beside {given!r}, which is to be the {name}; rename or remove one"
            raise DataFormatError(message, path=path, line=line)
        value[name] = value.pop(given)
    return jsonl.from_json(value, path=path, line=line)


def resolve_links(doc: Document, resolve: Resolve | None, losses: Counter[str] | None) -> Document:
    """Bring the titles of links through a knowledge base; `losses` counts what it does not know."""
    if resolve is None:
        return doc
    losses = Counter() if losses is None else losses
    return replace(doc, links=tuple(_resolve_link(link, resolve, losses) for link in doc.links))


def _resolve_link(link: Link, resolve: Resolve, losses: Counter[str]) -> Link:
    names = [name for name in (link.title, link.id) if name is not None]
    title = next((known for name in names if (known := resolve(name)) is not None), None)
    if names and title is None:
        losses[UNKNOWN] += 1
    return replace(link, title=title or link.title)
