"""The values that flow through parlink: spans, entities, candidates, links and documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open character range `[start, end)` into a document's text."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"Span needs 0 <= start < end, got [{self.start}, {self.end})")

    def overlaps(self, other: Span) -> bool:
        """Whether the two ranges share a character."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Entity:
    """An entry of a knowledge base, known by its unique title."""

    title: str
    id: str | None = None
    type: str | None = None  # what kind of thing it is, as the knowledge base says it
    description: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that a mention may refer to: the total score, its parts, and the look-up step that found it."""

    title: str
    id: str | None = None
    score: float | None = None  # the total that ranks candidates
    prior: float | None = None  # p(title | surface)
    lm: float | None = None  # length-normalized log-likelihood of the title
    classifier: float | None = None  # the discriminative correction, a raw logit
    coherence: float | None = None  # support by the other mentions of the document
    match_type: str | None = None  # by which look-up step the surface found it: exact, folded, ...
    url: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)  # unknown JSON fields, carried through


@dataclass(frozen=True, slots=True)
class Link:
    """A mention and the entity it refers to; title None is NIL, and `reason` says why."""

    span: Span
    title: str | None = None
    id: str | None = None
    type: str | None = None  # of the entity, as is its description, where the knowledge base knows them
    description: str | None = None
    confidence: float | None = None  # probability that the link is right
    reason: str | None = None
    source: str | None = None  # who proposed the mention: "detector", or "given" with the document
    mention_logit: float | None = None  # log-odds that a mention starts here
    mention_probability: float | None = None  # p(start) p(end | start) of the span
    candidates: tuple[Candidate, ...] = ()
    url: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """A text and its links.

    Given `spans`, only these are disambiguated. `kb` names the knowledge base that the
    links point into, and `error` says why a document of a stream could not be linked.
    """

    text: str
    id: str = ""
    links: tuple[Link, ...] = ()
    spans: tuple[Span, ...] | None = None
    kb: str | None = None
    error: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
