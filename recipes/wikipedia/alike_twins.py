"""Titles that a redirect in small letters leads to one spelled nearly so: "Nezami Ganjavi" is "Nizami Ganjavi"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import SequenceMatcher

from parlink.kb.surfaces import fold
from recipes.wikipedia.evidence import Evidence, Mark
from recipes.wikipedia.kinds.classes import TYPE_OF_CLASS
from recipes.wikipedia.pool import Pool

_ALIKE = 0.8  # of their letters that two titles share in order
_ALIKE_NOUNS = 0.9  # of two common nouns: diplomacy is not a diplomat
_DIGITS = re.compile(r"\d+|:.*")
_NUMBERED = re.compile(r"\w+ [IVX]+")  # a ruler
_PEERS = re.compile(r"\b(?:Duke|Earl|Baron|Viscount|Marquess|Count)\b")
_OF_NAMES = frozenset(["place", "product"])  # types whose names are not those of others as well


def merge_alike(pool: Pool, redirects: Mapping[str, str]) -> None:
    """Merge titles that are spelled alike if a redirect, in small letters, leads from one to the other."""
    for title in list(pool.titles):
        target = redirects.get(title.lower())
        other = None if target is None or title not in pool.titles else pool.now(target)
        if other is None or other == title or title.lower() == other.lower():
            continue
        if _are_alike(title, other) and _may_be_one(pool.titles[title], pool.titles[other]):
            weaker, stronger = sorted((title, other), key=lambda each: pool.titles[each].strength)
            pool.merge(weaker, stronger, "twins merged: spelled alike, and a redirect")


def _are_alike(title: str, other: str) -> bool:
    if _NUMBERED.fullmatch(title) and other.startswith(f"{title} of "):
        return True
    if _DIGITS.findall(title) != _DIGITS.findall(other) or _PEERS.search(title):
        return False
    if title[1:].islower() != other[1:].islower():
        return False  # one is a common noun
    least = _ALIKE_NOUNS if title[1:].islower() else _ALIKE
    return SequenceMatcher(None, fold(title), fold(other), autojunk=False).ratio() >= least


def _may_be_one(title: Evidence, other: Evidence) -> bool:
    if title.marks & other.marks & Mark.ID or (title.kind and other.kind):
        return False
    return not title.kind or TYPE_OF_CLASS.get(title.kind) in _OF_NAMES
