"""An entry of a source, a JSON line or a row of a table, turned into facts.

{"title": ..., "id"?, "type"?, "description"?, "aliases"?, "count"?, "links"?}   an entity; "name" does for "title"
    aliases: [surface | {"surface", "count"}], count: how often each name was seen that has none of its own,
    links: the titles that its page links to; and, if known, "kind": its
    class in the source, "redirects": former and other titles, "popularity": how well known it is, else how often seen
{"surface": ..., "title": ..., "count"?}                                         an alias
{"text": ..., "links": [...]}                                                    a document
{"title": ..., "paragraphs": [{"text", "links": [[start, end, title]]}]}         an article
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from hashlib import sha256
from typing import Annotated, Any

import msgspec

from parlink.data.references import unescape_title
from parlink.kb.build.facts import Batch, Fact, Kind, page_key
from parlink.types import Document

Count = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]


class Alias(msgspec.Struct):
    """A surface of an entity."""

    surface: str
    count: Count | None = None  # None: that of the entity


class Paragraph(msgspec.Struct):
    """A piece of an article with its links."""

    text: str
    links: list[tuple[int, int, str]] = []


class Entry(msgspec.Struct):
    """A line that names a title: an entity, an alias or an article."""

    title: str
    id: str | int | None = None
    type: str | None = None
    kind: str | None = None
    description: str | None = None
    aliases: list[str | Alias] | None = None
    count: Count | None = None
    links: list[str] | None = None
    redirects: list[str] | None = None
    popularity: Count | None = None
    surface: str | None = None
    paragraphs: list[Paragraph] | None = None


KEYS = tuple(field.name for field in msgspec.structs.fields(Entry))
SYNONYMS = {"name": "title"}
_OF_ARTICLES = frozenset(["page_id", "path"])  # what Wikipedia for Schools says beside the paragraphs


def check_keys(keys: Iterable[str], *, ignored: Collection[str] = (), what: str = "key") -> None:
    """Refuse keys that we do not know, since what they say would be lost; raises ValueError."""
    given = set(keys)
    known = {*KEYS, *SYNONYMS, *ignored, *(_OF_ARTICLES if "paragraphs" in given else ())}
    for key in sorted(given - known):
        near = get_close_matches(key[:100], sorted(known), n=1, cutoff=0.0)[0]
        raise ValueError(f"the {what} {key!r} is unknown, the nearest known one is {near!r}; rename it, or ignore it")
    for other, key in SYNONYMS.items():
        if {other, key} <= given:
            raise ValueError(f"both {other!r} and {key!r} are given, which mean the same; leave one out")


def make_entry(values: dict[str, Any], *, strict: bool = True, ignored: Collection[str] = ()) -> Entry:
    """Make an entry of keys and values; raises ValueError."""
    check_keys(values, ignored=ignored)
    named = {SYNONYMS.get(key, key): value for key, value in values.items() if key not in ignored}
    return msgspec.convert(named, Entry, strict=strict)


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
    if entry.type and (written := " ".join(entry.type.split())):
        batch.facts[Fact(title, identifier, Kind.TYPE, written)] += 1
    if entry.kind and (written := " ".join(entry.kind.split())):
        batch.facts[Fact(title, identifier, Kind.CLASS, written)] += 1
    if entry.popularity is not None:
        batch.facts[Fact(title, identifier, Kind.POPULARITY, "")] += entry.popularity
    for former in entry.redirects or ():
        batch.facts[Fact(title, identifier, Kind.REDIRECT, plain_name(former, "redirect"))] += 0
    if entry.count is not None:
        batch.facts[Fact(title, identifier, Kind.ALIAS, title)] += entry.count
    for given in entry.aliases or ():
        alias = Alias(given) if isinstance(given, str) else given
        count = _count(entry.count) if alias.count is None else alias.count
        batch.facts[Fact(title, identifier, Kind.ALIAS, plain_name(alias.surface, "alias"))] += count
    targets = [plain_name(link, "link") for link in entry.links or ()]
    for paragraph in entry.paragraphs or ():
        targets += _add_links(batch, paragraph)
    if targets:
        add_page(batch, title, [title, *targets])


def add_document(batch: Batch, doc: Document) -> None:
    """Add the links of a document, and their candidates, which were not seen but may be meant."""
    targets = []
    for link in doc.links:
        surface = _plain_surface(doc.text[link.span.start : link.span.end])
        if surface and link.title is not None:
            title = plain_name(link.title, "title")
            targets.append(title)
            batch.facts[Fact(title, "", Kind.LINK, surface)] += 1
            if link.id:
                batch.facts[Fact(title, "", Kind.IDENTIFIER, link.id)] += 1
        for candidate in link.candidates if surface else ():
            batch.facts[Fact(plain_name(candidate.title, "title"), "", Kind.LISTED, surface)] += 0
    if len(targets) > 1:
        add_page(batch, f"document {sha256(doc.text.encode(errors='replace')).hexdigest()}", targets)


def add_page(batch: Batch, page: str, targets: Iterable[str]) -> None:
    """Add the titles that a page links to, for the link graph."""
    key = page_key(page)
    for target in targets:
        batch.facts[Fact(target, "", Kind.PAGE, key)] += 0


def plain_name(name: str, what: str) -> str:
    """Return a title or surface with single spaces, its character references read.

    Raises ValueError if nothing is left, or a NUL is in it.
    """
    plain = " ".join(unescape_title(name).split())
    if not plain:
        raise ValueError(f"the {what} is empty; every entry needs one with letters")
    if "\0" in plain:
        raise ValueError(f"the {what} {plain!r} has a NUL character; remove it")
    return plain


def _add_links(batch: Batch, paragraph: Paragraph) -> list[str]:
    targets = []
    for start, end, title in paragraph.links:
        surface = _plain_surface(paragraph.text[start:end])
        if surface and title.strip():
            targets.append(plain_name(title, "title"))
            batch.facts[Fact(targets[-1], "", Kind.LINK, surface)] += 1
    return targets


def _plain_surface(text: str) -> str:
    return " ".join(text.replace("\0", " ").split())  # a trie cannot hold a NUL


def _count(count: int | None) -> int:
    return 1 if count is None else count
