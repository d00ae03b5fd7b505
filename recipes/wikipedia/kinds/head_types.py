"""The type of an entity by the words that its lead uses for it."""

from __future__ import annotations

import re

from recipes.wikipedia.kinds.head_words import TYPE_OF_HEAD
from recipes.wikipedia.kinds.noun_phrases import head_nouns

_STATIONS = (
    "bus ferry fire light_rail metro police power rail railway research ski space subway train tram tube weather"
)
_PAIRS = (  # two words that together mean another thing than the second alone
    (rf"\b(?:{_STATIONS.replace(' ', '|').replace('_', ' ')}) (?:station|stop|stations)\b|\bpower plant\b", "place"),
    (r"\baircraft carrier\b|\bfighter (?:aircraft|jet)\b|\btrainer aircraft\b", "product"),
    (r"\b(?:ice hockey|hockey|football|basketball) (?:centre|center|guard|wing)\b", "person"),
    (r"^(?:[\w-]+ )?(?:line|brand) of (?!(?:the|[A-Z]))", "product"),
    (r"\bchampionship series\b", "event"),
    (r"\bethnic group\b|\bindigenous people", "other"),
    (r"\b(?:first-person|third-person) shooter\b", "work"),
)
_OPENINGS = (  # of leads that do not say "is a"
    (
        r"^The .*\b(?:team|club|side)s?\b.*? (?:represents?|represented|competes?|competed|played)\b",
        "organization",
    ),
    (
        r" (?:was|were|is|will be|are) (?:be )?(?:held|contested|fought|awarded|given|played|first held|staged)\b",
        "event",
    ),
    (r" (?:participated|competed|took place|consisted of \w+ events|was the scene)\b", "event"),
    (
        r" (?:is|was|are|lies|flows|rises|runs) (?:located|situated|north|south|east|west|through|from|in)\b",
        "place",
    ),
    (r" (?:was|were) born\b|^[^.]*\( ?born\b", "person"),
)


def type_of_phrase(phrase: str) -> str | None:
    """Return the type of what a noun phrase names, by its head noun.

    >>> type_of_phrase("American singer and television host")
    'person'
    >>> type_of_phrase("species of flowering plant")
    'species'
    >>> type_of_phrase("capital and most populous city of France")
    'place'
    """
    for pattern, kind in _PAIRS:
        if re.search(pattern, phrase):
            return kind
    for head in head_nouns(phrase):
        for word in (head, head.removesuffix("s"), head.rpartition("-")[2]):
            if word in TYPE_OF_HEAD:
                return TYPE_OF_HEAD[word]
    return None


def type_of_opening(lead: str) -> str | None:
    """Return the type of a lead that has no "is a": "was held", "is located", "represents"."""
    return next((kind for pattern, kind in _OPENINGS if re.search(pattern, lead)), None)
