"""Edits of a knowledge base: which records a change leaves, given how things are now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from parlink.errors import KnowledgeBaseError
from parlink.kb import surfaces
from parlink.kb.names import REDIRECT, form
from parlink.kb.records import Record, Records
from parlink.kb.tables import TYPES
from parlink.kb.view import View
from parlink.types import Entity


class RefusedError(Exception):
    """Why a change cannot be made."""


def add(view: View, entity: Entity, *, aliases: Sequence[str], count: int) -> Records:
    """Add an entity, found by its title and by `aliases`, as if each had been seen `count` times for it.

    So does a build that finds it in a table.
    """
    if not isinstance(entity, Entity):
        raise KnowledgeBaseError(f"what is added must be an Entity, as in Entity('Kent'), got {entity!r:.60}")
    if isinstance(aliases, str) or not isinstance(aliases, Iterable):
        raise KnowledgeBaseError(f"aliases must be a list of strings, got {aliases!r:.60}")
    title = check_name(entity.title, "title")
    names = Counter(check_name(alias, "alias") for alias in aliases)
    _refuse_taken(view, title, "the new one")
    names[title] += 1
    names = Counter({name: times * check_count(count) for name, times in names.items()})
    records = _free(view, title)
    records[_next(view, records)] = Record(
        title=title,
        added=True,
        id=entity.id,
        type=check_type(entity.type),
        description=entity.description,
        names=dict(names),
    )
    return records


def rename(view: View, old: str, new: str) -> Records:
    """Give an entity another title; the old one leads to it, and its names stay with it."""
    title = check_name(new, "title")
    number = _number(view, old, "to rename")
    _refuse_taken(view, title, "the entity")
    records = _free(view, title, to=number)
    place, record = _record(view, number, records)
    names = record.names | {name: 1 for name in (old, title) if not _count(view, number, name)}
    records[place] = replace(
        record,
        title=title,
        base=_base(view, number),
        names=names,
        former=_sort({*record.former, old} - {title}),
        lost=_sort(set(record.lost) - {old}),
    )
    return records


def remove(view: View, title: str) -> Records:
    """Remove an entity with all its names."""
    number = _number(view, title, "to remove")
    place, _ = _record(view, number, {})
    base = _base(view, number)
    return {place: None if base is None else Record(base=base)}


def add_alias(view: View, surface: str, title: str, *, count: int) -> Records:
    """Let a surface find a title, as if it had been seen `count` times for it."""
    alias, more = check_name(surface, "alias"), check_count(count)
    number = _number(view, title, f"to give the alias {surface!r}")
    place, record = _record(view, number, {})
    return {place: replace(record, names=record.names | {alias: record.names.get(alias, 0) + more})}


def remove_alias(view: View, surface: str, title: str) -> Records:
    """Let a surface, in whatever spelling, no longer find a title, nor lead to it if it was a former title."""
    number = view.number(check_string(title, "title"))
    if number is None or not view.finds(check_string(surface, "alias"), title):
        raise RefusedError(f"{surface!r} is no alias of {title!r}")
    key = surfaces.key(surface)
    place, record = _record(view, number, {})
    names = {name: count for name, count in record.names.items() if surfaces.key(name) != key}
    former = tuple(name for name in record.former if surfaces.key(name) != key)
    return {place: replace(record, names=names, hidden=_sort({*record.hidden, key}), former=former)}


def check_name(name: str, what: str) -> str:
    """Return a name with single spaces; refuse one that nothing could find."""
    plain = " ".join(check_string(name, what).split())
    if not plain or not surfaces.key(plain):
        raise KnowledgeBaseError(f"an empty {what} cannot be added; give one with letters")
    try:
        plain.encode()
    except UnicodeEncodeError as error:
        raise KnowledgeBaseError(
            f"the {what} {plain!r} is not valid Unicode ({error.reason}); write it anew"
        ) from error
    if "\0" in plain:
        raise KnowledgeBaseError(f"the {what} {plain!r} holds a NUL character; leave it out")
    return plain


def check_string(value: str, what: str) -> str:
    """Refuse what is no string."""
    if not isinstance(value, str):
        raise KnowledgeBaseError(f"{what} must be a string, got {value!r:.60}")
    return value


def check_count(count: int) -> int:
    """Refuse a count that is no positive whole number."""
    if type(count) is not int or count < 1:
        raise KnowledgeBaseError(f"a count must be a whole number of at least 1, got {count!r:.60}")
    return count


def check_type(name: str | None) -> str | None:
    """Refuse a type that there is not."""
    if name is not None and name not in TYPES:
        raise KnowledgeBaseError(f"{name!r} is no type of entities; give one of {', '.join(TYPES)}, or none")
    return name


def _free(view: View, title: str, *, to: int | None = None) -> Records:
    """Let a title that an entity takes no longer lead to the one that had it, or that the folder redirects it to.

    That one is still found by it, as by an alias.
    """
    records: Records = {}
    holder, target = view.changes.former.get(title), view.tables.redirect(title)
    if holder is not None and holder != to:
        place, record = _record(view, holder, records)
        records[place] = replace(record, former=_sort(set(record.former) - {title}))
    if target is not None and target != to and view.title(target) is not None:
        place, record = _record(view, target, records)
        records[place] = replace(record, lost=_sort({*record.lost, title}))
    return records


def _record(view: View, number: int, records: Records) -> tuple[int, Record]:
    """Return an entity's record and its place: as a change has left it so far, as it was, or a new one."""
    place = view.changes.record.get(number)
    if place is None:
        title = view.tables.title(number)
        return _next(view, records), Record(title=title, base=title)
    return place, records.get(place) or view.changes.records[place]


def _next(view: View, records: Records) -> int:
    return max(view.changes.last, *records, 0) + 1


def _count(view: View, number: int, surface: str) -> float:
    """Return how often an entity was seen under a name that is spelled so."""
    names = view.names(surfaces.key(surface))
    same = (names.title == number) & (names.kind <= REDIRECT) & (names.form == form(surface))
    return float(names.count[same].sum())


def _base(view: View, number: int) -> str | None:
    return view.tables.title(number) if number < len(view.tables) else None


def _number(view: View, title: str, what_for: str) -> int:
    number = view.number(check_string(title, "title"))
    if number is None:
        raise RefusedError(f"there is no entity {title!r} {what_for}")
    return number


def _refuse_taken(view: View, title: str, who: str) -> None:
    if view.number(title) is not None:
        raise RefusedError(f"{title!r} is there already; give {who} another title")


def _sort(names: set[str]) -> tuple[str, ...]:
    return tuple(sorted(names))
