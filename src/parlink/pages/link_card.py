"""What the card of a link says: the entity, how sure the link is, the parts of its score, and its rivals."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from parlink.pages import ASSETS
from parlink.types import Candidate, Link

SHOWN = 6  # rivals of a link
SLOTS = 6  # colors for types that are not parlink's own
_WORDS = json.loads((ASSETS / "words.json").read_bytes())  # which card.js reads too
PARTS: dict[str, dict[str, str]] = _WORDS["parts"]  # by name: label, hint, and how its bar is drawn
REASONS: dict[str, str] = _WORDS["reasons"]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the score of a candidate, and the same part of its strongest rival."""

    name: str
    value: float
    rival: float | None

    @property
    def words(self) -> dict[str, str]:
        """Return its label, a hint at what the number means, and how its bar is drawn."""
        return PARTS[self.name]


@dataclass(frozen=True, slots=True)
class LinkCard:
    """A link, and what there is to say of it."""

    link: Link
    parts: tuple[Part, ...]  # of the entity linked to; none for a NIL
    rival: Candidate | None  # the strongest other candidate
    rivals: tuple[Candidate, ...]  # the first of the others
    more: int  # others that are not shown
    best: float  # the highest score

    @property
    def reason(self) -> str:
        """Say in words why there is no link, and how likely the best candidate is where that is why."""
        code = self.link.reason or "no reason is given"
        words = REASONS.get(code, code.replace("_", " "))
        if code != "below_confidence" or self.link.confidence is None:
            return words
        return f"{words} ({self.link.confidence:.0%})".replace("%", " %")


def make_card(link: Link, *, rival: str | None = None) -> LinkCard:
    """Say what there is to say of a link; `rival` is the title to compare with, else the strongest other candidate."""
    chosen = next((c for c in link.candidates if c.title == link.title), None)
    others = [c for c in link.candidates if c is not chosen]
    against = next((c for c in others if c.title == rival), others[0] if others else None)
    return LinkCard(
        link,
        parts=() if chosen is None else _parts(chosen, against),
        rival=against,
        rivals=tuple(others[:SHOWN]),
        more=len(others[SHOWN:]),
        best=max((c.score for c in link.candidates if c.score is not None), default=0.0),
    )


def assign_slots(types: Iterable[str | None]) -> dict[str, int]:
    """Number the types of a document from 1 in the order in which they first come; the numbers stand for colors."""
    order = dict.fromkeys(type for type in types if type is not None)
    return {type: 1 + place % SLOTS for place, type in enumerate(order)}


def _parts(chosen: Candidate, rival: Candidate | None) -> tuple[Part, ...]:
    values: dict[str, float | None] = {name: getattr(chosen, name) for name in PARTS}
    return tuple(
        Part(name, value, None if rival is None else getattr(rival, name))
        for name, value in values.items()
        if value is not None
    )
