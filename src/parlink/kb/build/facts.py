"""What sources say about titles, as rows that sort by title: everything about a title ends up side by side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple


class Kind:
    """What a fact says; `value` and the count mean what stands here. Plain integers, since files hold no others."""

    NAME = 0  # there is an entity of this title; value: number of the source, count: how often it lists it
    DESCRIPTION = 1  # value: description
    IDENTIFIER = 2  # value: an id for a title that some source names
    LINK = 3  # a text links `value` to the title; count: how often. There is such an entity.
    LISTED = 4  # a text lists the title as a candidate for `value`; not counted. There is such an entity.
    ALIAS = 5  # value: surface of a title that some source names; count: how often it was seen
    REDIRECT = 6  # value: a former or other title. There is such an entity.
    LEFT_OUT = 7  # there is a page of this title, and it is no entity; value: why
    FLAGGED = 8  # the same, and it is so whatever other sources say: the wiki itself says it
    TYPE = 9  # value: type of the entity, as the source writes it
    PAGE = 10  # value: `page_key` of a page that links to the title, or is its own; not counted
    CLASS = 11  # value: class of the entity in the source, such as DBpedia's
    POPULARITY = 12  # count: how well known the entity is


class Fact(NamedTuple):
    """A row; `id` is the entity's where the source gives one, else empty."""

    title: str
    id: str
    kind: int
    value: str


class PageFact(NamedTuple):
    """A row of a wiki's own tables, which know pages by number; `what` is one of the following, or a property."""

    page: int
    what: str
    value: str


ARTICLE_TITLE = "title"  # of an article; there is such an entity
KNOWN_TITLE = "known title"  # of a page; whether it is an entity is said elsewhere
REDIRECT_TITLE = "title of a redirect"
REDIRECTS_TO = "redirects to"  # value: a title

OCCURS, IS_LINKED = 0, 1  # what is counted of a surface: pages on which it stands, pages on which it is a link
Occurrence = tuple[str, int]  # a surface, and one of these


@dataclass
class Batch:
    """What a piece of a source says."""

    entries: int = 0  # lines or pages read
    size: int = 0  # of these in bytes, unpacked
    facts: Counter[Fact] = field(default_factory=Counter)
    page_facts: list[PageFact] = field(default_factory=list)
    occurrences: Counter[Occurrence] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)  # why an entry is no entity, and how often
    warnings: list[str] = field(default_factory=list)  # what is wrong with the source, and was borne


def page_key(page: str) -> str:
    """Return a hash of a page's name; the pages of a title are sampled in its order, so it must never change."""
    return blake2b(page.encode(errors="replace"), digest_size=8).hexdigest()
