"""Entities in, the files of a KB folder out."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from parlink.errors import KnowledgeBaseError
from parlink.kb import arrays, surfaces
from parlink.kb.arrays import unsigned
from parlink.kb.build.columns import EntityColumns, write_trie
from parlink.kb.build.facts import Occurrence
from parlink.kb.build.link_graph import LinkGraphWriter
from parlink.kb.build.link_probability import Seen, join, spill_occurrences
from parlink.kb.build.merge import Known
from parlink.kb.build.spill import Spill
from parlink.kb.link_graph import LINKS_FILE
from parlink.kb.names import ALIAS, KIND_SHIFT, REDIRECT, form, made_names
from parlink.kb.shapes import shape
from parlink.kb.tables import ARRAYS_FILE, IDS_FILE, KEYS_FILE, TITLES_FILE

MAX_COUNT = (1 << 32) - 1
ENCODED = ("name_count", "name_linked", "title_count", "title_popularity")  # columns, where their values are few
_QID = re.compile(r"Q[1-9][0-9]*")
PAGES_A_TITLE = 128  # of the link graph
Name = tuple[str, str, int, int, int, int]  # key, title, kind, form or 0; form and shape of its spelling


@dataclass(frozen=True)
class Written:
    """How much the files hold."""

    titles: int
    names: int
    ids: int
    descriptions: int
    types: int = 0
    id_scheme: str | None = None


def write_tables(
    entities: Iterable[Known],
    folder: Path,
    *,
    scratch: Path,
    occurrences: Iterable[tuple[Occurrence, int]] = (),
    pages_a_title: int = PAGES_A_TITLE,
) -> Written:
    """Write the tries and arrays of a KB into `folder`; `scratch` is for what does not fit into memory.

    `occurrences` says how often surfaces occur and are links, and `pages_a_title` how many pages the link graph keeps.
    """
    spills = Spills(scratch, pages_a_title=pages_a_title)
    return write_spills(spills, spills.take(entities), folder, seen=spill_occurrences(occurrences, scratch))


def write_spills(
    spills: Spills, titles: Iterable[str], folder: Path, *, seen: Spill[Seen], guesses: arrays.Array | None = None
) -> Written:
    """Write the tries and arrays of what `spills` holds once all `titles` have been asked for.

    `guesses`, if given, says how often names of each shape are links; else those that were `seen` tell.
    """
    trie = write_trie(titles, folder / TITLES_FILE)
    if not len(trie):
        raise KnowledgeBaseError("the sources name no entity; a knowledge base needs at least one title")
    keys = write_trie((key for key, _ in groupby(row[0] for row, _ in spills.names)), folder / KEYS_FILE)
    columns, order = _name_columns(spills.names, keys, trie)
    columns |= _probability_columns(spills.names, order, seen, guesses)
    columns |= _id_columns(spills.ids, trie, columns["title_count"], folder / IDS_FILE)
    columns |= spills.columns.write(folder, trie)
    if spills.columns.is_popularity_known:
        del columns["title_count"]
    for name in ENCODED:
        if name in columns:
            columns |= arrays.encode(name, columns[name])
    arrays.write(folder / ARRAYS_FILE, columns)
    spills.graph.write(folder / LINKS_FILE, trie)
    return Written(
        titles=len(trie),
        names=len(columns["name_title"]),
        ids=len(columns.get("id_title", ())),
        descriptions=int(np.count_nonzero(columns.get("title_description", ()))),
        types=int(np.count_nonzero(columns.get("title_type", ()))),
        id_scheme=_id_scheme(identifier for (identifier, _), _ in spills.ids),
    )


class Spills:
    """What entities consist of, title by title, on its way into tables."""

    def __init__(self, scratch: Path, *, pages_a_title: int = PAGES_A_TITLE) -> None:
        self.names: Spill[Name] = Spill(scratch, "names")
        self.ids: Spill[tuple[str, str]] = Spill(scratch, "ids")  # id, title
        self.columns = EntityColumns(scratch)
        self.graph = LinkGraphWriter(scratch, limit=pages_a_title)

    def take(self, entities: Iterable[Known]) -> Iterator[str]:
        """Yield the title of each entity once the rest of it is taken in."""
        for entity in entities:
            for surface, count in entity.counts.items():
                kind = REDIRECT if surface in entity.redirects else ALIAS
                self._add_name(surface, entity.title, kind, form(surface), count)
            known = entity.counts.total() if entity.popularity is None else entity.popularity
            for kind, short in made_names(entity.title):
                if surfaces.key(short) not in entity.hidden:
                    self._add_name(short, entity.title, kind, 0, known)
            if entity.id:
                self.ids.add((entity.id, entity.title))
            self.columns.add(
                entity.title,
                type=entity.type,
                kind=entity.kind,
                description=entity.description,
                popularity=entity.popularity,
            )
            self.graph.add(entity.title, entity.pages)
            yield entity.title

    def _add_name(self, surface: str, title: str, kind: int, checksums: int, count: int) -> None:
        if key := surfaces.key(surface):
            self.names.add((key, title, kind, checksums, form(surface), shape(surface)), count)


def _name_columns(names: Spill[Name], keys: Any, titles: Any) -> tuple[dict[str, arrays.Array], arrays.Array]:
    """Return the columns of names, and the order that brought the names to that of keys."""
    key, title, kind, forms, count = (array("Q") for _ in range(5))
    for (name, of, what, checksums, _, _), seen in names:
        key.append(keys[name])
        title.append(titles[of])
        kind.append(what)
        forms.append(checksums)
        count.append(seen)
    order = np.argsort(np.asarray(key), kind="stable")
    numbers, kinds, counts = (np.asarray(column)[order] for column in (title, kind, count))
    spelled = np.where(kinds <= REDIRECT, counts, 0)
    groups = arrays.Groups.of(np.bincount(np.asarray(key, np.int64), minlength=len(keys)))
    columns = {
        "name_start": groups.start,
        "name_many": groups.many,
        "name_title": (numbers | kinds << np.uint64(KIND_SHIFT)).astype(np.uint32),
        "name_count": unsigned(np.minimum(counts, MAX_COUNT)),
        "name_form": np.asarray(forms)[order].astype(np.uint16),
        "title_count": unsigned(np.minimum(np.bincount(numbers.astype(np.int64), spelled, len(titles)), MAX_COUNT)),
    }
    return columns, order


def _probability_columns(
    names: Spill[Name], order: arrays.Array, seen: Spill[Seen], guesses: arrays.Array | None
) -> dict[str, arrays.Array]:
    """How often names are links where they occur, in the order of `_name_columns`."""
    linked = join(((row[0], row[4], row[5]) for row, _ in names), seen)
    if linked is None:
        return {}
    return {"name_linked": linked.names[order], "shape_linked": linked.shapes if guesses is None else guesses}


def _id_columns(
    ids: Spill[tuple[str, str]], titles: Any, title_count: arrays.Array, path: Path
) -> dict[str, arrays.Array]:
    """Map titles to ids and back; an id of several titles leads to the one that was seen most."""
    trie = write_trie((identifier for identifier, _ in groupby(row[0] for row, _ in ids)), path)
    if not len(trie):
        path.unlink()
        return {}
    title_id, id_title = np.zeros(len(titles), np.int64), np.zeros(len(trie), np.int64)
    for identifier, group in groupby((row for row, _ in ids), key=itemgetter(0)):
        numbers = [titles[title] for _, title in group]
        title_id[numbers] = trie[identifier] + 1
        id_title[trie[identifier]] = max(numbers, key=title_count.__getitem__)
    return {"title_id": unsigned(title_id), "id_title": unsigned(id_title)}


def _id_scheme(ids: Iterable[str]) -> str | None:
    """Tell what ids are: "wikidata" if all are QIDs, "page" if all are numbers, else "own"; None if there are none."""
    kinds = {"wikidata" if _QID.fullmatch(each) else "page" if each.isdecimal() else "own" for each in ids}
    return kinds.pop() if len(kinds) == 1 else "own" if kinds else None
