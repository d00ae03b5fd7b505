"""Run-time changes of the knowledge base over HTTP, checked and translated into status codes."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import HTTPException

from parlink.errors import KnowledgeBaseError
from parlink.kb import KnowledgeBase
from parlink.serve.intake import whole
from parlink.serve.schemas import DESCRIPTION_CHARACTERS, MAX_ALIASES, MAX_COUNT, TITLE_CHARACTERS
from parlink.types import Entity

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=TITLE_CHARACTERS)]


class NewEntity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An `Entity`, further names for it, and how often its title was seen."""

    title: Name
    id: Annotated[str, msgspec.Meta(max_length=TITLE_CHARACTERS)] | None = None
    description: Annotated[str, msgspec.Meta(max_length=DESCRIPTION_CHARACTERS)] | None = None
    aliases: Annotated[tuple[Name, ...], msgspec.Meta(max_length=MAX_ALIASES)] = ()
    count: Annotated[int, msgspec.Meta(ge=1, le=MAX_COUNT)] = 1


def new_entity(value: Any) -> NewEntity:
    """Turn JSON into an entity to add."""
    if isinstance(value, dict) and "count" in value:
        value = value | {"count": whole(value["count"])}
    try:
        return msgspec.convert(value, NewEntity)
    except msgspec.ValidationError as error:
        raise HTTPException(422, f"the entity: {error}") from error


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
    _change(lambda: kb.add(Entity(title, new.id, new.description), aliases=new.aliases, count=new.count))
    return find(kb, title)


def remove(kb: KnowledgeBase, title: str) -> None:
    """Remove an entity with its aliases."""
    find(kb, title)
    _change(lambda: kb.remove(title))


def _change(make: Any) -> None:
    try:
        make()
    except KnowledgeBaseError as error:
        if isinstance(error.__cause__, OSError):
            raise HTTPException(503, "the change cannot be saved now", {"Retry-After": "5"}) from error
        raise HTTPException(422, "a title and an alias need a letter or a digit") from error
