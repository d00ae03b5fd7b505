"""A description of one line, put together from facts: the class, and two attributes that tell most."""

from __future__ import annotations

import re

MOST_CHARACTERS = 100
_WORDS = {
    "GridironFootballPlayer": "American football player",
    "SoccerClub": "football club",
    "MilitaryPerson": "soldier",
    "RouteOfTransportation": "road or railway line",
    "AdministrativeRegion": "administrative region",
    "EducationalInstitution": "school or university",
    "Planet": "celestial body",
    "Stream": "river",
    "Station": "railway station",
    "Plant": "plant",
    "MilitaryConflict": "battle or war",
    "SiteOfSpecialScientificInterest": "site of special scientific interest",
    "CollegeCoach": "college sports coach",
    "AutomobileEngine": "engine",
    "Colour": "color",
    "WorldHeritageSite": "world heritage site",
    "GrandPrix": "Grand Prix",
}
_OF_GENRE = ("Band", "VideoGame", "Song", "Magazine")
_OF_NATION = ("Scientist", "GolfPlayer", "Architect", "VolleyballPlayer", "FictionalCharacter")
_OF_TYPE = """EducationalInstitution School University Newspaper Ship Aircraft Weapon Lake City Building Museum
    MilitaryUnit"""
# An attribute that stands before the class: "dance-punk band".
_BEFORE = dict.fromkeys(_OF_GENRE, "genre") | dict.fromkeys(_OF_NATION, "nationality")
# An attribute that says more than the class: "private university".
_INSTEAD = dict.fromkeys(_OF_TYPE.split(), "type") | {"BaseballPlayer": "position", "IceHockeyPlayer": "position"}
_KEEPS_CLASS = {"BaseballPlayer": "baseball", "IceHockeyPlayer": "ice hockey"}
_AFTER = (  # the first two that are known
    ("author", "by"),
    ("artist", "by"),
    ("creator", "by"),
    ("developer", "by"),
    ("manufacturer", "by"),
    ("director", "directed by"),
    ("family", "of the family"),
    ("routeStart", "from"),
    ("league", "in the"),
    ("city", "in"),
    ("location", "in"),
    ("headquarter", "in"),
    ("place", "in"),
    ("isPartOf", "in"),
    ("county", "in"),
    ("state", "in"),
    ("country", "in"),
    ("sourceCountry", "in"),
    ("region", "in"),
    ("hometown", "from"),
    ("birthPlace", "born in"),
    ("team", "of the"),
    ("militaryBranch", "of the"),
    ("operator", "of the"),
    ("field", "in"),
    ("publisher", "published by"),
    ("owner", "of"),
    ("ground", "at"),
)
_PLACES = frozenset(["city", "location", "headquarter", "place", "isPartOf", "county", "state", "region"])


def describe(kind: str, facts: str) -> str:
    """Return a description made of a DBpedia class and `property=label` facts, at most 100 characters.

    >>> describe("Band", "genre=Dance-punk; recordLabel=Touch and Go Records; hometown=Sacramento California")
    'dance-punk band from Sacramento California'
    >>> describe("Book", "author=Leo Tolstoy; publisher=The Russian Messenger")
    'book by Leo Tolstoy, published by The Russian Messenger'
    >>> describe("Lake", "country=Canada")
    'lake in Canada'
    """
    known = dict(fact.split("=", 1) for fact in facts.split("; ") if "=" in fact)
    noun = name_class(kind)
    if (better := known.get(_INSTEAD.get(kind, ""))) and len(better) < 40:
        noun = f"{_KEEPS_CLASS[kind]} {_lower_noun(better)}" if kind in _KEEPS_CLASS else _lower_noun(better)
    if (before := known.get(_BEFORE.get(kind, ""))) and len(before) < 30:
        noun = f"{before if _BEFORE[kind] == 'nationality' else _lower_noun(before)} {noun}"
    text = noun
    for name, value in _choose_attributes(known, noun):
        joined = f"{text}, {value}" if name in {"publisher"} and text != noun else f"{text} {value}"
        text = joined if len(joined) <= MOST_CHARACTERS else text
    return text[:MOST_CHARACTERS]


def name_class(kind: str) -> str:
    """Return the words for a DBpedia class.

    >>> name_class("RecordLabel")
    'record label'
    """
    return _WORDS.get(kind) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).lower()


def _choose_attributes(known: dict[str, str], noun: str) -> list[tuple[str, str]]:
    chosen: list[tuple[str, str]] = []
    placed = False
    for name, word in _AFTER:
        value = known.get(name)
        if not value or value.lower() in noun.lower() or len(chosen) == 2:
            continue
        if name in _PLACES or name.lower().endswith("country"):
            if placed:
                if name.lower().endswith("country") and value not in chosen[-1][1]:
                    chosen[-1] = (name, f"{chosen[-1][1]}, {value}")
                continue
            placed = True
        chosen.append((name, f"{word} {value}"))
    return chosen[:2]


def _lower_noun(label: str) -> str:
    """Lower the first letter of a label that is a common noun."""
    words = label.split()
    rest_small = all(word[:1].islower() or not word[:1].isalpha() for word in words[1:])
    return label[:1].lower() + label[1:] if rest_small and not label[:2].isupper() else label
