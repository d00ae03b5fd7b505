"""Acronyms that are titles beside what they stand for: "FDA" is the "Food and Drug Administration"."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from operator import itemgetter

from parlink.kb.surfaces import drop_parenthesis
from recipes.wikipedia.collect import Tables
from recipes.wikipedia.elsewhere import is_redirect_perhaps, weigh_links
from recipes.wikipedia.pool import Pool
from recipes.wikipedia.texts import Texts

_ACRONYM = re.compile(r"[A-Z]{2,6}")
_WORD = re.compile(r"[^\W_]+")
_SMALL = frozenset(["of", "the", "and", "for", "in", "on", "de", "du", "des", "et", "a", "an", "to"])
_SHARE = 0.5  # of the links of the acronym to other titles, which must go to the one of these initials
_FEWEST_OF_TWO_LETTERS = 5.0  # such links; of more letters one is enough
_POPULAR = 10.0  # how well known such a title must be


def merge_acronyms(pool: Pool, texts: Texts, tables: Tables) -> None:
    """Merge an acronym that nothing but links know into the title of these initials that it mostly links to."""
    acronyms = {title for title in pool.titles if _ACRONYM.fullmatch(title) and is_redirect_perhaps(pool, title)}
    targets: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for surface, title, worth in weigh_links(texts, tables):
        if surface in acronyms and (now := pool.now(title)) is not None and now != surface:
            targets[surface][now] += worth
    for acronym, links in targets.items():
        title, worth = max(links.items(), key=itemgetter(1))
        enough = worth >= _SHARE * sum(links.values()) and (len(acronym) > 2 or worth >= _FEWEST_OF_TWO_LETTERS)
        if enough and pool.titles[title].popularity >= _POPULAR and acronym in set(_initials(title)):
            pool.merge(acronym, title, "twins merged: an acronym")


def _initials(title: str) -> Iterator[str]:
    """Yield the first letters of the words of a title, then of those that are not small words."""
    words = _WORD.findall(drop_parenthesis(title) or title)
    yield "".join(word[0] for word in words).upper()
    yield "".join(word[0] for word in words if word.lower() not in _SMALL).upper()
