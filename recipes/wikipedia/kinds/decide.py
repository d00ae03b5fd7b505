"""The type of a title and a line that describes it, from what is known of it: class, facts, lead, lists, title."""

from __future__ import annotations

from dataclasses import dataclass

from recipes.wikipedia.evidence import Evidence
from recipes.wikipedia.kinds.classes import TYPE_OF_CLASS
from recipes.wikipedia.kinds.descriptions import MOST_CHARACTERS, describe
from recipes.wikipedia.kinds.head_types import type_of_opening, type_of_phrase
from recipes.wikipedia.kinds.noun_phrases import drop_last_words, noun_phrase
from recipes.wikipedia.kinds.title_types import type_of_title

_PERSONS = frozenset(["sronen_people", "us_legislators"])  # lists of titles.tsv.gz that hold nothing else
_NO_PERSONS = frozenset(["Bitcoin", "CBS", "Physician", "Robot", "Spotify"])  # though one of them has it
_FILMS = frozenset(["wikimovies"])
_DOUBTFUL = frozenset(["Building", "Country", "EducationalInstitution", "MusicGenre"])  # often wrong, leads are not
_NO_COUNTRIES = frozenset(["Country", "Magazine"])  # such as the United Nations, and a football club that has one


@dataclass(frozen=True, slots=True)
class Kind:
    """What a title is; None: nobody says."""

    type: str | None
    description: str | None


def decide(title: str, evidence: Evidence, *, lead: str | None, facts: tuple[str, str] | None) -> Kind:
    """Return type and description of a title; `facts` are its class and its attributes."""
    name = (facts[0] if facts else "") or evidence.kind
    phrase = noun_phrase(lead) if lead else None
    told = (type_of_phrase(phrase) if phrase else None) or (type_of_opening(lead) if lead else None)
    by_title, words = type_of_title(title)
    by_class = _choose(name, told)
    kind = by_class or _by_lists(evidence, by_title, title)
    description = phrase or (describe(name, facts[1] if facts else "") if name else words)
    return make_kind(kind or ("other" if description else None), description)


def make_kind(kind: str | None, description: str | None) -> Kind:
    """Return a kind whose description ends with a word that says something, and is not the type once more."""
    words = (description or "")[: MOST_CHARACTERS + 1].split(" ")
    if len(description or "") > MOST_CHARACTERS:
        words.pop()  # cut off in the middle
    text = " ".join(drop_last_words(words)).rstrip(" ,;:")
    return Kind(kind, text if text and text.lower() != kind else None)


def _choose(name: str, told: str | None) -> str | None:
    """Choose between what the class and what the lead says."""
    by_class = TYPE_OF_CLASS.get(name)
    if told in ("place", "person", "event") and name in _DOUBTFUL and by_class != "other":
        return told
    if told in ("organization", "other") and name in _NO_COUNTRIES:
        return told
    return by_class or told


def _by_lists(evidence: Evidence, by_title: str | None, title: str) -> str | None:
    if (
        title not in _NO_PERSONS
        and not _PERSONS.isdisjoint(evidence.lists)
        and by_title in (None, "place" if ", " in title else None)
    ):
        return "person"
    return by_title or ("work" if not _FILMS.isdisjoint(evidence.lists) else None)
