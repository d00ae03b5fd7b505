"""Twins of which one has a parenthesis: "Senate (Nigeria)" is "Senate of Nigeria", "Java (island)" the island Java."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recipes.wikipedia.evidence import Evidence, Mark
from recipes.wikipedia.kinds.classes import TYPE_OF_CLASS
from recipes.wikipedia.kinds.descriptions import name_class
from recipes.wikipedia.pool import Pool

_PARENTHESIS = re.compile(r"(.+) \(([^()]+)\)")
_FIRM = frozenset(["company", "website", "corporation"])
_FIRM_ENDS = (".com", " Inc.", ", Inc.", " Corporation", " plc", " Ltd.")
# Old titles have these without parenthesis, "Python programming language"; a "Snuff film" is not "Snuff (film)".
_WORDS_FOR_CLASSES = """automobile block cheese circuit city clan computer deity district family franchise language
    magazine missile network newspaper opera protocol prover river rocket rover software spacecraft system website"""
_CLASSES = frozenset(_WORDS_FOR_CLASSES.split())
# Titles of these are written either way, "Heves County".
_WORDS_FOR_PLACES = """canton county department district island municipality parish prefecture province rayon region
    river state"""
_PLACES = frozenset(_WORDS_FOR_PLACES.split())


def merge_parenthesis_twins(pool: Pool) -> None:
    """Merge a title with a parenthesis and the one that says the same without; the stronger stays."""
    for title in list(pool.titles):
        match = _PARENTHESIS.fullmatch(title) if title.endswith(")") else None
        if match is None or title not in pool.titles:
            continue
        for other, how in _others(match[1], match[2]):
            if other in pool.titles and _are_one(pool.titles[title], pool.titles[other], match[2], how):
                weaker, stronger = sorted((title, other), key=lambda each: pool.titles[each].strength)
                if how == "parenthesis for words":
                    weaker, stronger = other, title
                pool.merge(weaker, stronger, f"twins merged: {how}")
                break


def _others(name: str, inside: str) -> Iterator[tuple[str, str]]:
    """Yield what else "name (inside)" may be called, and how the two differ."""
    if inside[0].isupper():
        yield f"{name} of {inside}", "parenthesis for of"
        yield f"{name} of the {inside}", "parenthesis for of"
        if name[-1].isdigit():
            yield f"{inside} {name}", "parenthesis for a number"
    if inside in _FIRM:
        yield from ((name + end, "parenthesis for a firm's ending") for end in _FIRM_ENDS)
    if inside.rpartition(" ")[2] in _CLASSES:
        yield f"{name} {inside}", "parenthesis for words"
    if inside.islower() and inside.endswith("magazine"):
        yield f"{name} {inside.title()}", "parenthesis for words"
    if inside.islower() and inside.rpartition(" ")[2] in _PLACES:
        yield from ((f"{name} {words}", "parenthesis for a place") for words in (inside.title(), inside))
    if inside.islower():
        yield name, "parenthesis for the class"


def _are_one(title: Evidence, other: Evidence, inside: str, how: str) -> bool:
    if title.marks & other.marks & Mark.ID and how != "parenthesis for a firm's ending":
        return False
    if how == "parenthesis for words":
        return not other.is_page
    if how == "parenthesis for the class":
        return bool(other.kind) and not title.kind and name_class(other.kind) == inside
    if how == "parenthesis for a place" and TYPE_OF_CLASS.get(title.kind or other.kind, "place") != "place":
        return False
    return not (title.kind and other.kind)
