"""What sources say about titles, as rows that sort by title: everything about a title ends up side by side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
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


class Fact(NamedTuple):
    """A row; `id` is the entity's where the source gives one, else empty."""

    title: str
    id: str
    kind: int
    value: str


@dataclass
class Batch:
    """What a piece of a source says."""

    entries: int = 0  # lines or pages read
    size: int = 0  # of these in bytes, unpacked
    facts: Counter[Fact] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)  # why an entry is no entity, and how often
    warnings: list[str] = field(default_factory=list)  # what is wrong with the source, and was borne
