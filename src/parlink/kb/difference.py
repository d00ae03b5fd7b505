"""What is different between two knowledge bases: entities, what is known of them, and the names that find them."""

from __future__ import annotations

from dataclasses import dataclass, field

from parlink.kb.view import View
from parlink.types import Entity

_FIELDS = ("id", "type", "description")


@dataclass(frozen=True)
class Change:
    """What another knowledge base says of an entity."""

    title: str
    field: str
    old: str | None
    new: str | None


@dataclass(frozen=True)
class Difference:
    """All that is different; `renamed` leads from a title to that which the new one has in its place."""

    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)
    changed: list[Change] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # keys under which other titles, or other counts, are found


def diff(old: View, new: View) -> Difference:
    """Compare two knowledge bases, in the old one's order; a removed title that the new one resolves is renamed."""
    result = Difference()
    for entity in old.entities():
        now = new.entity(entity.title)
        if now is not None:
            result.changed.extend(_compare(entity, now))
        elif (title := new.resolve(entity.title, ids=False)) is not None and title not in old:
            result.renamed[entity.title] = title
        else:
            result.removed.append(entity.title)
    renamed = set(result.renamed.values())
    result.added.extend(title for title in new.titles() if title not in old and title not in renamed)
    keys = dict.fromkeys((*old.name_keys(), *new.name_keys()))
    result.names.extend(key for key in keys if _names(old, key) != _names(new, key))
    return result


def _compare(entity: Entity, now: Entity) -> list[Change]:
    pairs = ((name, getattr(entity, name), getattr(now, name)) for name in _FIELDS)
    return [Change(entity.title, name, before, after) for name, before, after in pairs if before != after]


def _names(view: View, key: str) -> list[tuple[str | None, int, int, float]]:
    rows = ((view.title(row.title), row.kind, row.form, row.seen) for row in view.name_rows(key))
    return sorted(rows, key=str)
