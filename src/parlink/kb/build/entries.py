"""An entry of a source, a JSON line or a row of a table, turned into facts.

{"title": ..., "id"?, "description"?, "aliases"?: [surface | {"surface", "count"}], "count"?}   an entity
{"surface": ..., "title": ..., "count"?}                                                        an alias
{"text": ..., "links": [...]}                                                                   a document
{"title": ..., "paragraphs": [{"text", "links": [[start, end, title]]}]}                        an article
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from parlink.kb.build.facts import Batch, Fact, Kind
from parlink.types import Document

Count = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]


class Alias(msgspec.Struct):
    """A surface of an entity; without a count it counts 1."""

    surface: str
    count: Count = 1


class Paragraph(msgspec.Struct):
    """A piece of an article with its links."""

    text: str
    links: list[tuple[int, int, str]] = []


class Entry(msgspec.Struct):
    """A line that names a title: an entity, an alias or an article."""

    title: str
    id: str | int | None = None
    description: str | None = None
    aliases: list[str | Alias] | None = None
    count: Count | None = None
    surface: str | None = None
    paragraphs: list[Paragraph] | None = None


def add_entry(batch: Batch, entry: Entry, *, source: int) -> None:
    """Add what an entry says; raises ValueError for a name that is empty."""
    title = plain_name(entry.title, "title")
    if entry.surface is not None:
        batch.facts[Fact(title, "", Kind.ALIAS, plain_name(entry.surface, "surface"))] += _count(entry.count)
        return
    identifier = "" if entry.id is None else str(entry.id).strip()
    batch.facts[Fact(title, identifier, Kind.NAME, str(source))] += 1
    if description := " ".join((entry.description or "").split()):
        batch.facts[Fact(title, identifier, Kind.DESCRIPTION, description)] += 1
    if entry.count is not None:
        batch.facts[Fact(title, identifier, Kind.ALIAS, title)] += entry.count
    for given in entry.aliases or ():
        alias = Alias(given) if isinstance(given, str) else given
        batch.facts[Fact(title, identifier, Kind.ALIAS, plain_name(alias.surface, "alias"))] += alias.count
    for paragraph in entry.paragraphs or ():
        _add_links(batch, paragraph)


def add_document(batch: Batch, doc: Document) -> None:
    """Add the links of a document, and their candidates, which were not seen but may be meant."""
    for link in doc.links:
        surface = _plain_surface(doc.text[link.span.start : link.span.end])
        if surface and link.title is not None:
            title = plain_name(link.title, "title")
            batch.facts[Fact(title, "", Kind.LINK, surface)] += 1
            if link.id:
                batch.facts[Fact(title, "", Kind.IDENTIFIER, link.id)] += 1
        for candidate in link.candidates if surface else ():
            batch.facts[Fact(plain_name(candidate.title, "title"), "", Kind.LISTED, surface)] += 0


def plain_name(name: str, what: str) -> str:
    """Return a title or surface with single spaces; raises ValueError if nothing is left, or a NUL is in it."""
    plain = " ".join(name.split())
    if not plain:
        raise ValueError(f"the {what} is empty; every entry needs one with letters")
    if "\0" in plain:
        raise ValueError(f"the {what} {plain!r} has a NUL character; remove it")
    return plain


def _add_links(batch: Batch, paragraph: Paragraph) -> None:
    for start, end, title in paragraph.links:
        surface = _plain_surface(paragraph.text[start:end])
        if surface and title.strip():
            batch.facts[Fact(plain_name(title, "title"), "", Kind.LINK, surface)] += 1


def _plain_surface(text: str) -> str:
    return " ".join(text.replace("\0", " ").split())  # a trie cannot hold a NUL


def _count(count: int | None) -> int:
    return 1 if count is None else count
