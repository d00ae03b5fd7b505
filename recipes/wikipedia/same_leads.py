"""Titles that have one lead between them: redirects that were followed when the leads were fetched."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from parlink.kb.surfaces import drop_parenthesis, fold
from recipes.wikipedia.evidence import Evidence, Mark
from recipes.wikipedia.pool import Pool

_WORD = re.compile(r"[^\W_]+")
_MOST = 6  # titles of one lead; more are the items of a list


def merge_same_leads(pool: Pool, leads: Mapping[str, str]) -> None:
    """Merge titles of one lead into the strongest, if the lead names them: else they are but a part of its subject."""
    groups: defaultdict[str, set[str]] = defaultdict(set)
    for title, lead in leads.items():
        if (now := pool.now(title)) is not None:
            groups[lead].add(now)
    for lead, titles in groups.items():
        if 1 < len(titles) <= _MOST:
            _merge_group(pool, lead, titles)


def _merge_group(pool: Pool, lead: str, titles: set[str]) -> None:
    words = set(_WORD.findall(fold(lead)))
    named = [title for title in titles if title in pool.titles and _is_named(title, words)]
    if len(named) < 2:
        return
    strongest, *others = sorted(named, key=lambda title: (-pool.titles[title].strength, title))
    for title in others:
        if _may_be_one(pool.titles[title], pool.titles[strongest]):
            pool.merge(title, strongest, "twins merged: one lead")


def _is_named(title: str, words: set[str]) -> bool:
    """Whether all words of a title, but for its parenthesis and what follows its comma, are among those of a lead."""
    name = (drop_parenthesis(title) or title).partition(", ")[0]
    return words.issuperset(_WORD.findall(fold(name)))


def _may_be_one(title: Evidence, other: Evidence) -> bool:
    return not (title.kind and other.kind) and not title.marks & other.marks & Mark.ID
