"""A state of a knowledge base that remembers what was asked of it last: the texts of a collection share their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from parlink.kb.tables import Linked
from parlink.kb.view import View
from parlink.types import Candidate, Entity

SURFACES, TITLES = 1 << 12, 1 << 14  # of each so many: some 30 MB
LONGEST = 64  # characters of a surface that is remembered
CHARACTERS = 2_000  # of titles or descriptions in an answer that is remembered

Key = TypeVar("Key")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class RememberedView:
    """The look-ups of a view that nobody changes; may be used from several threads."""

    view: View
    _candidates: dict[tuple[str, int], Sequence[Candidate]] = field(default_factory=dict)
    _linked: dict[str, Linked | None] = field(default_factory=dict)
    _entities: dict[str, Entity | None] = field(default_factory=dict)
    _descriptions: dict[str, str | None] = field(default_factory=dict)

    def candidates(self, surface: str, *, limit: int) -> Sequence[Candidate]:
        """Return at most `limit` candidates of a surface, the most probable first."""
        if len(surface) > LONGEST:
            return self.view.candidates(surface, limit=limit)
        asked = surface, limit
        return _recall(
            self._candidates,
            asked,
            lambda: self.view.candidates(surface, limit=limit),
            most=SURFACES,
            length=lambda found: sum(len(candidate.title) for candidate in found),
        )

    def linked(self, surface: str) -> Linked | None:
        """Return how often a surface is a link where it occurs."""
        if len(surface) > LONGEST:
            return self.view.linked(surface)
        return _recall(self._linked, surface, lambda: self.view.linked(surface), most=TITLES, length=lambda _: 0)

    def entity(self, title: str) -> Entity | None:
        """Return what is known of a title; of a former title, what is known of that of now."""
        return _recall(
            self._entities,
            title,
            lambda: self.view.entity(title) or self.view.entity(self.view.resolve(title, ids=False) or title),
            most=TITLES,
            length=lambda entity: len(title) + len((entity and entity.description) or ""),
        )

    def description(self, title: str) -> str | None:
        """Return the description of what `entity` returns, and look nothing else up."""
        return _recall(
            self._descriptions,
            title,
            lambda: self.view.description(title),
            most=TITLES,
            length=lambda said: len(title) + len(said or ""),
        )


def _recall(
    answers: dict[Key, Answer],
    asked: Key,
    ask: Callable[[], Answer],
    *,
    most: int,
    length: Callable[[Answer], int],
) -> Answer:
    """Return what is remembered, or ask; what is too long is not kept, and a full memory is emptied."""
    try:
        return answers[asked]
    except KeyError:
        answer = ask()
    if length(answer) > CHARACTERS:
        return answer
    if len(answers) >= most:
        answers.clear()
    answers[asked] = answer
    return answer
