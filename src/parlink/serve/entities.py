"""Run-time changes of the knowledge base over HTTP, checked and translated into status codes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from fastapi import HTTPException

from parlink.errors import KnowledgeBaseError
from parlink.kb import KnowledgeBase
from parlink.kb.edits import check_type
from parlink.serve.intake import make_whole
from parlink.serve.settings import Settings
from parlink.settings import PositiveInt
from parlink.types import Entity

Name = Annotated[str, msgspec.Meta(min_length=1)]


class NewEntity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An `Entity`, further names for it, and how often each of its names was seen."""

    title: Name
    id: str | None = None
    type: str | None = None
    description: str | None = None
    aliases: tuple[Name, ...] = ()
    count: PositiveInt = 1


def parse_entity(value: Any, settings: Settings) -> NewEntity:
    """Turn JSON into an entity to add, within the limits."""
    if isinstance(value, dict) and "count" in value:
        value = value | {"count": make_whole(value["count"])}
    try:
        new = msgspec.convert(value, NewEntity)
    except msgspec.ValidationError as error:
        raise HTTPException(422, f"the entity: {error}") from error
    names = {"title": new.title, "id": new.id or "", **{f"alias {n}": name for n, name in enumerate(new.aliases)}}
    for name, text in names.items():
        _check_size(f"characters of {name}", len(text), settings.title_characters)
    _check_size("characters of description", len(new.description or ""), settings.description_characters)
    _check_size("aliases", len(new.aliases), settings.max_aliases)
    _check_size("count", new.count, settings.max_count)
    try:
        check_type(new.type)
    except KnowledgeBaseError as error:
        raise HTTPException(422, f"the entity: {error}") from error
    return new


def _check_size(name: str, size: int, most: int) -> None:
    if size > most:
        raise HTTPException(422, f"the entity: {name}: {size}; at most {most}")


def find(kb: KnowledgeBase, title: str) -> Entity:
    """Return what is known of a title."""
    entity = kb.entity(title)
    if entity is None:
        raise HTTPException(404, "there is no entity of exactly this title")
    return entity


def add(kb: KnowledgeBase, new: NewEntity) -> Entity:
    """Add an entity and return it as the knowledge base has it."""
    title = " ".join(new.title.split())
    if title in kb:
        raise HTTPException(409, "there is an entity of this title; give the new one another")
    entity = Entity(title, id=new.id, type=new.type, description=new.description)
    _change(lambda: kb.add(entity, aliases=new.aliases, count=new.count))
    return find(kb, title)


def remove(kb: KnowledgeBase, title: str) -> None:
    """Remove an entity with its aliases."""
    find(kb, title)
    _change(lambda: kb.remove(title))


def _change(make: Callable[[], object]) -> None:
    try:
        make()
    except KnowledgeBaseError as error:
        if isinstance(error.__cause__, (OSError, sqlite3.Error)):
            raise HTTPException(503, "the change cannot be saved now", {"Retry-After": "5"}) from error
        raise HTTPException(422, "a title and an alias need a letter or a digit") from error
