"""The records of an overlay, indexed over the tables of a knowledge base for look-ups.

Titles have numbers: those of the tables keep theirs, also when renamed, and an added one has the number of its
record after them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple, TypeVar

import numpy as np
from msgspec.structs import replace

from parlink.kb import surfaces
from parlink.kb.names import REDIRECT, form, made_names
from parlink.kb.records import Record, encode
from parlink.kb.tables import Tables

_HASH_BYTES = 8
Value = TypeVar("Value")


class Spelled(NamedTuple):
    """A name that counts more than in the tables."""

    number: int
    form: int
    more: int


class Made(NamedTuple):
    """A name that is made of a title: without its parenthesis, or its last words."""

    number: int
    kind: int


@dataclass
class Changes:
    """The records and what is found through them. Only `put` changes it, in steps that do not grow with its size."""

    tables: Tables
    records: dict[int, Record] = field(default_factory=dict)
    last: int = 0  # the highest number that a record ever had
    hash: int = 0  # of all records; sums of their hashes, so that one can be taken out
    number: dict[int, int] = field(default_factory=dict)  # of a record: its title's; none if the tables lost the title
    record: dict[int, int] = field(default_factory=dict)  # the other way round
    title: dict[str, int] = field(default_factory=dict)
    former: dict[str, int] = field(default_factory=dict)
    id: dict[str, tuple[int, ...]] = field(default_factory=dict)
    spelled: dict[str, tuple[Spelled, ...]] = field(default_factory=dict)  # by key, as the next two
    made: dict[str, tuple[Made, ...]] = field(default_factory=dict)
    hidden: dict[str, tuple[int, ...]] = field(default_factory=dict)
    more: dict[int, int] = field(default_factory=dict)  # title: how much more often it was seen than the tables say
    growth: int = 0  # how many titles more there are than in the tables

    def copy(self) -> Changes:
        """Return a copy; `put` on one of the two does not touch the other."""
        values: dict[str, Any] = {name: copy(v) if isinstance(v, dict) else v for name, v in vars(self).items()}
        return Changes(**values)

    def put(self, number: int, record: Record | None) -> None:
        """Put a record in place of the one that has the same number."""
        before = self.records.get(number)
        self.last = max(self.last, number)
        self.hash = (self.hash + _hash(number, record) - _hash(number, before)) % (1 << 8 * _HASH_BYTES)
        if before and record and replace(before, names=record.names) == record:
            self.records[number] = record
            self._count(number, before, record)
            return
        if before is not None:
            self._take_out(number, self.records.pop(number))
        if record is not None:
            self.records[number] = record
            self._take_in(number, record)

    def of(self, number: int) -> Record | None:
        """Return the record of a title's number, None if nothing was changed about it."""
        place = self.record.get(number)
        return None if place is None else self.records[place]

    def added(self) -> Iterator[str]:
        """Yield the titles that the tables do not have for an entity of theirs, in the order of their records."""
        first = len(self.tables)
        for place, record in self.records.items():
            if record.title is not None and self.number.get(place, 0) >= first:
                yield record.title

    def _take_in(self, place: int, record: Record) -> None:
        number = self._number_for(place, record)
        if number is None:
            return
        self.number[place], self.record[number] = number, place
        if record.title is None:
            self.growth -= 1
            return
        self.growth += number >= len(self.tables)
        self.title[record.title] = number
        self.former |= dict.fromkeys(record.former, number)
        for surface, count in record.names.items():
            self._add_name(number, record, surface, count)
        for kind, short in made_names(record.title):
            if (key := surfaces.key(short)) and key not in record.hidden:
                self.made[key] = (*self.made.get(key, ()), Made(number, kind))
        for key in record.hidden:
            self.hidden[key] = (*self.hidden.get(key, ()), number)
            self._add_more(number, -sum(count for kind, _, count in self._in_tables(number, key) if kind <= REDIRECT))
        if identifier := record.id or self.tables_id(number):
            self.id[identifier] = (*self.id.get(identifier, ()), number)

    def _take_out(self, place: int, record: Record) -> None:
        number = self.number.pop(place, None)
        if number is None:
            return
        del self.record[number]
        if record.title is None:
            self.growth += 1
            return
        self.growth -= number >= len(self.tables)
        _drop(self.title, record.title, number)
        for name in record.former:
            _drop(self.former, name, number)
        made = (surfaces.key(short) for _, short in made_names(record.title))
        for key in {*map(surfaces.key, record.names), *made, *record.hidden}:
            _keep(self.spelled, key, lambda name: name.number != number)
            _keep(self.made, key, lambda name: name.number != number)
            _keep(self.hidden, key, lambda hidden: hidden != number)
        if identifier := record.id or self.tables_id(number):
            _keep(self.id, identifier, lambda other: other != number)
        self.more.pop(number, None)

    def _count(self, place: int, before: Record, record: Record) -> None:
        """Change the counts of names, and nothing else: who has many names does not wait for all of them."""
        number = self.number.get(place)
        if number is None or record.title is None:
            return
        for surface in {surface for surface, _ in before.names.items() ^ record.names.items()}:
            if surface in before.names:
                self._add_name(number, record, surface, -before.names[surface])
            if surface in record.names:
                self._add_name(number, record, surface, record.names[surface])

    def _add_name(self, number: int, record: Record, surface: str, count: int) -> None:
        """Let a name count more; what was added, and is in the tables by now, counts as there."""
        key, spelling = surfaces.key(surface), form(surface)
        there = record.added and number < len(self.tables)
        if there and any(kind <= REDIRECT and each == spelling for kind, each, _ in self._in_tables(number, key)):
            return
        names = self.spelled.get(key, ())
        same = sum(name.more for name in names if name.number == number and name.form == spelling)
        others = tuple(name for name in names if name.number != number or name.form != spelling)
        kept = (*others, Spelled(number, spelling, same + count)) if same + count else others
        _set(self.spelled, key, kept)
        self._add_more(number, count)

    def _add_more(self, number: int, count: int) -> None:
        self.more[number] = self.more.get(number, 0) + count

    def _in_tables(self, number: int, key: str) -> list[tuple[int, int, int]]:
        """Return kind, form and count of the names that the tables have for a title under a key."""
        names = self.tables.names(key)
        mine = names.title == number
        columns = (names.kind[mine], names.form[mine], names.count[mine].astype(np.int64))
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def _number_for(self, place: int, record: Record) -> int | None:
        """Return the number of a record's title; the tables may have been built again since the record was made."""
        if record.base is not None:
            return self.tables.number(record.base)
        if record.title is None:
            return None
        built_in = self.tables.number(record.title)
        return len(self.tables) + place if built_in is None or built_in in self.record else built_in

    def tables_id(self, number: int) -> str | None:
        """Return the id that the tables have for a title."""
        return self.tables.id(number) if number < len(self.tables) else None


def _hash(number: int, record: Record | None) -> int:
    if record is None:
        return 0
    return int.from_bytes(blake2b(b"%d %s" % (number, encode(record)), digest_size=_HASH_BYTES).digest())


def _drop(index: dict[str, int], name: str, number: int) -> None:
    """Take a name out of an index unless it is another's by now."""
    if index.get(name) == number:
        del index[name]


def _keep(index: dict[str, tuple[Value, ...]], key: str, wanted: Callable[[Value], bool]) -> None:
    _set(index, key, tuple(filter(wanted, index.get(key, ()))))


def _set(index: dict[str, tuple[Value, ...]], key: str, values: tuple[Value, ...]) -> None:
    if values:
        index[key] = values
    else:
        index.pop(key, None)
