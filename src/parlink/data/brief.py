"""A linked document in brief: of each link the best candidates, and numbers with no more digits than mean something."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

from parlink.types import Candidate, Document, Link

DIGITS = 4  # behind the point
AnyItem = TypeVar("AnyItem", Link, Candidate)


def keep_top(doc: Document, top: int) -> Document:
    """Leave each link its best `top` candidates."""
    return replace(doc, links=tuple(replace(link, candidates=link.candidates[:top]) for link in doc.links))


def round_numbers(doc: Document) -> Document:
    """Round what is computed of links and candidates; unknown fields stay as they came."""
    return replace(doc, links=tuple(_round(link, candidates=tuple(map(_round, link.candidates))) for link in doc.links))


def _round(item: AnyItem, **others: Any) -> AnyItem:
    values = {field.name: getattr(item, field.name) for field in fields(item)}
    rounded: dict[str, Any] = {name: round(v, DIGITS) for name, v in values.items() if isinstance(v, float)}
    return replace(item, **rounded, **others)
