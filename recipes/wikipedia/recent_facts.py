"""Facts of our own, in the tables of `recent`: titles that the sources are too old for, and titles of now.

A row of a table (`sources.RECENT_NAMES`) is a title, its type, a line that describes it, further names with ` | `
between them, and how famous it is, from 1 to 5, or nothing if the sources tell. `renamed.tsv` leads from former titles
to those of now. What they say goes before what any source says, but for type and description in the tables that
were made for names (`sources.NAME_TABLES`): these are told where no source tells them, and their titles may be merged.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from parlink.data.titles import follow
from parlink.errors import DataFormatError
from recipes.wikipedia import sources
from recipes.wikipedia.evidence import Mark
from recipes.wikipedia.kinds.classes import TYPE_OF_CLASS
from recipes.wikipedia.kinds.decide import Kind, make_kind
from recipes.wikipedia.kinds.descriptions import MOST_CHARACTERS
from recipes.wikipedia.kinds.head_types import type_of_phrase
from recipes.wikipedia.kinds.noun_phrases import noun_phrase
from recipes.wikipedia.pool import Pool
from recipes.wikipedia.sources import NAME_TABLES, Data, SourceFile
from recipes.wikipedia.spelling import spell

_YEAR = re.compile(r"\b(1[89]|20)\d\d\b")
Name = tuple[str, str]  # surface, title
LINKS_OF_FAME = {"": 0, "1": 3, "2": 10, "3": 30, "4": 100, "5": 300}  # links of running text that it is worth
_BARE = 0.4  # of it that a bare surname or an acronym is worth
_EDITION = 0.03  # that a name is which many editions of an event have, such as twenty championships
_MANY_EDITIONS = 3
_MUCH = 1 / 3  # of what an alias is worth: more links of texts to another title make it that one's
_TYPES = frozenset(TYPE_OF_CLASS.values())


@dataclass(frozen=True, slots=True)
class Row:
    """What we know of a title."""

    type: str
    description: str
    aliases: tuple[str, ...]
    links: int  # of running text that its fame is worth
    is_for_names: bool = False  # so that what sources tell of the title goes before its type and description


@dataclass(frozen=True)
class Recent:
    """All rows by title, and former titles with the title of now."""

    rows: dict[str, Row] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)


def read_recent(data: Data) -> Recent:
    """Read our tables; of two rows of a title the later one counts, with the aliases and the fame of both."""
    steps = {spell(old): spell(new) for old, new, *_ in data.rows(sources.RENAMED)}
    renamed = {old: new for old in steps if (new := follow(old, steps)) != old}
    rows: dict[str, Row] = {}
    for source in sources.RECENT:
        for title, row in _read_rows(data, source):
            now = renamed.get(title, title)
            before = rows.get(now, row)
            rows[now] = Row(
                row.type,
                row.description,
                tuple(dict.fromkeys((*before.aliases, *row.aliases))),
                max(before.links, row.links),
                row.is_for_names,
            )
    return Recent(rows, renamed)


def mark_recent(pool: Pool, recent: Recent) -> None:
    """Put our titles into the pool, as well known as we say that they are at least."""
    for title, row in recent.rows.items():
        evidence = pool.evidence(title)
        if not row.is_for_names:
            evidence.marks |= Mark.OURS
        evidence.fame = row.links


def rename(pool: Pool, recent: Recent, *, ids: Mapping[str, str], leads: Mapping[str, str]) -> None:
    """Lead from former titles to those of now, unless the two are not one; what we name leads nowhere else."""
    for title, row in recent.rows.items():
        if not row.is_for_names and (other := pool.moved.pop(title, None)) is not None:
            pool.report.add("redirects not followed: a title of ours", f"{title} → {other}")
    for old, new in recent.renamed.items():
        if _are_two(pool, old, new, ids, leads):
            pool.report.add("renamed, but two entities", f"{old} → {new}")
            continue
        pool.moved[old] = new
        pool.moved.pop(new, None)
        pool.evidence(new).marks |= Mark.OURS
        pool.report.add("renamed", f"{old} → {new}")


def tell_kinds(pool: Pool, recent: Recent, told: Mapping[str, Kind]) -> dict[str, Kind]:
    """Return type and description of our titles, given what sources `told` of all that are kept.

    A DBpedia class of another type is wrong, and is forgotten.
    """
    kinds = {}
    for title, row in recent.rows.items():
        now = pool.now(title)
        if now is None or now not in told:
            continue
        ours, theirs = make_kind(row.type, row.description), told[now]
        if row.is_for_names:
            of_source = theirs.type if theirs.type != "other" else None
            ours = Kind(of_source or ours.type, theirs.description or ours.description)
        kinds[now] = ours
        if TYPE_OF_CLASS.get(pool.titles[now].kind) != ours.type:
            pool.titles[now].kind = ""
    return kinds


def weigh_aliases(pool: Pool, recent: Recent, links: Mapping[Name, int]) -> Iterator[tuple[str, str, float]]:
    """Yield the names of our titles with the links of running text that each is worth.

    A name of one word of a title of several, a surname or an acronym, is worth less, and that of many editions of an
    event next to nothing; and a name that texts link to another title stays that one's.
    """
    others: dict[str, dict[str, int]] = {alias: {} for row in recent.rows.values() for alias in row.aliases}
    for (surface, title), count in links.items():
        if surface in others and (now := pool.now(title)) is not None:
            others[surface][now] = others[surface].get(now, 0) + count
    editions = Counter(alias for title, row in recent.rows.items() if _YEAR.search(title) for alias in row.aliases)
    for title, row in recent.rows.items():
        now = pool.now(title)
        if now is None:
            continue
        yield title, now, row.links
        for alias in row.aliases:
            is_edition = editions[alias] >= _MANY_EDITIONS and _YEAR.search(title)
            is_bare = " " not in alias and " " in title
            worth = row.links * (_EDITION if is_edition else _BARE if is_bare else 1.0)
            most = max((count for other, count in others[alias].items() if other != now), default=0)
            yield alias, now, min(worth, most / 2) if most > _MUCH * worth else worth


def _are_two(pool: Pool, old: str, new: str, ids: Mapping[str, str], leads: Mapping[str, str]) -> bool:
    """Whether the ids of two titles, or their types by class or lead, say that they are two entities."""
    if old not in pool.titles or new not in pool.titles:
        return False
    if old in ids and new in ids:
        return ids[old] != ids[new]
    types = {_type(pool.titles[title].kind, leads.get(title, "")) for title in (old, new)}
    return len(types - {None}) > 1


def _type(name: str, lead: str) -> str | None:
    phrase = noun_phrase(lead)
    return TYPE_OF_CLASS.get(name) or (type_of_phrase(phrase) if phrase else None)


def _read_rows(data: Data, source: SourceFile) -> Iterator[tuple[str, Row]]:
    for number, columns in enumerate(data.rows(source), start=1):
        title, kind, description, aliases, fame = (column.strip() for column in columns[:5])
        if kind not in _TYPES or fame not in LINKS_OF_FAME or len(description) > MOST_CHARACTERS:
            message = f"wanted one of {', '.join(sorted(_TYPES))}, at most 100 characters, and fame from 1 to 5 or none"
            raise DataFormatError(message, path=data.path(source), line=number)
        names = tuple(filter(None, (" ".join(alias.split()) for alias in aliases.split("|"))))
        yield spell(title), Row(kind, description, names, LINKS_OF_FAME[fame], Path(source.path).stem in NAME_TABLES)
