"""The type of an entity by its title alone: a parenthesis, a telling last word, a year."""

from __future__ import annotations

import re

from recipes.wikipedia.kinds.head_types import type_of_phrase

_PARENTHESIS = re.compile(r"\(([^()]+)\)$")
_EVENT_NAMES = "Battle|Siege|Treaty|War|Massacre|Invasion|Raid"
_EVENT_ENDS = r"""Championships?|Tournament|Cup|Open|Awards?|Olympics|Games|Grand Prix|elections?, \d{4}|Festival
    |Marathon|Classic|Masters|Trophy"""
_TEAM_ENDS = r"F\.?C\.?|A\.F\.C\.|C\.F\.|S\.C\.|Football Club|Cricket Club|Club|United|City F\.C\."
_COMPANY_ENDS = r"""Inc\.?|Corp\.?|Corporation|Company|Ltd\.?|Limited|plc|Group|Airlines|Airways|Bank|Records
    |Entertainment|Holdings|Industries|Motors|Press|Broadcasting|Studios|Pictures"""
_BODIES = """Party|Association|Union|Committee|Council|Commission|Ministry|Department|Federation|Society|Foundation
    |Organi[sz]ation|Agency|Board|Church|Army|Navy|Regiment|Brigade|Battalion|Division|Squadron|League|Conference
    |Parliament|Senate|Assembly|Court"""
_PLACE_ENDS = """County|River|Lake|Island|Islands|Mountains?|Airport|Station|Bridge|Park|Stadium|Arena|Square|Street
    |Avenue|Road|Highway|Valley|Bay|Beach|Creek|Hill|Hills|Forest|Desert|Sea|Ocean|Peninsula|Province|District|Region
    |Township|Castle|Palace|Cathedral|Temple|Museum|Tower|Building|Hotel|Hospital|Cemetery|Dam|Canal|Railway|Line
    |Strait|Gulf|Falls|Canyon|Republic|Kingdom|Empire|Theatre|Theater|Hall|Centre|Center|House|Prison"""
_PLACE_STARTS = "Mount|Lake|River|Port|Cape|Fort|Isle|Gulf|Republic|Kingdom|Province|Strait|Bay"


def _shape(pattern: str, kind: str, words: str | None = None) -> tuple[re.Pattern[str], str, str | None]:
    return re.compile(re.sub(r"\n\s*", "", pattern)), kind, words


_SHAPES = (  # the first that fits tells the type, and what to say of it if that is more than the type
    _shape(rf"^(?:{_EVENT_NAMES}) (?:of|on) ", "event"),
    _shape(r"^\d{4}(?:[–-]\d{2,4})? ", "event"),
    _shape(rf" at the \d{{4}} | \d{{4}}$|\b(?:{_EVENT_ENDS})$", "event"),
    _shape(rf"\bnational .*team$|\b(?:{_TEAM_ENDS})$", "organization", "sports team"),
    _shape(
        r"\b(?:University|College|School|Institute|Academy|Seminary)(?: of [\w ,]+)?$|^University of ",
        "organization",
        "school or university",
    ),
    _shape(rf"\b(?:{_COMPANY_ENDS})$", "organization", "company"),
    _shape(
        rf"\b(?:{_BODIES})(?: of [\w ,.'()]+)?$|^(?:Ministry|Department|Bank|Church|Supreme Court|Parliament) of ",
        "organization",
        "organization",
    ),
    _shape(rf"\b(?:{_PLACE_ENDS})$|^(?:{_PLACE_STARTS}) ", "place", "place"),
    _shape(r", (?:[JS]r\.?|II|III|IV)$", "person"),
    _shape(r"^[^,()]+, (?:[A-Z][\w.'-]*)(?: [A-Z][\w.'-]*)*$", "place"),
    _shape(r"\b(?:language|languages|people|disease|syndrome|virus|music)$", "other"),
)


def type_of_title(title: str) -> tuple[str | None, str | None]:
    """Return a type and a description that a title tells by itself, each None if it does not.

    >>> type_of_title("Kent (band)")
    ('organization', 'band')
    >>> type_of_title("Auburn, New York")
    ('place', 'place in New York')
    """
    if match := _PARENTHESIS.search(title):
        kind = type_of_phrase(match[1].split(",")[0])
        return kind, (match[1] if kind else None)
    for pattern, kind, words in _SHAPES:
        if pattern.search(title):
            _, comma, where = title.partition(", ")
            return kind, f"place in {where}" if kind == "place" and comma else words
    return None, None
