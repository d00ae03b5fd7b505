"""How much entities have to do with each other, by the pages that link to both: the lines of the page's graph."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import HTTPException

from parlink.kb import KnowledgeBase
from parlink.linking.coherence import relate
from parlink.serve.settings import Settings

MOST = 100  # titles of a request: the work grows with the square
DIGITS = 4  # behind the point
Title = Annotated[str, msgspec.Meta(min_length=1)]
QUESTION = {"titles": ["Kent", "Leicester", "Hamburg"]}
ANSWER = {"related": [[1.0, 0.41, 0.0], [0.41, 1.0, 0.0], [0.0, 0.0, 1.0]]}


class Titles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The entities asked about."""

    titles: Annotated[tuple[Title, ...], msgspec.Meta(max_length=MOST)]


def parse_titles(value: Any, settings: Settings) -> tuple[str, ...]:
    """Turn JSON into titles, within the limits."""
    try:
        titles = msgspec.convert(value, Titles).titles
    except msgspec.ValidationError as error:
        raise HTTPException(422, f"the titles: {error}") from error
    if (longest := max(map(len, titles), default=0)) > settings.title_characters:
        raise HTTPException(422, f"the titles: one has {longest} characters; at most {settings.title_characters}")
    return titles


def relate_titles(kb: KnowledgeBase, titles: tuple[str, ...]) -> list[list[float]]:
    """Return for every two titles from 0 to 1 how related they are; 0 where the knowledge base does not know."""
    related: list[list[float]] = relate(titles, kb.snapshot()).round(DIGITS).tolist()
    return related
