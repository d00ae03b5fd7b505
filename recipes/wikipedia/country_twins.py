"""Twins of which one names its country or place: "U.S. Internal Revenue Service", "Inner West (Sydney)"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from parlink.kb.surfaces import fold
from recipes.wikipedia.evidence import Evidence, Mark
from recipes.wikipedia.pool import Pool

_AMERICAN = re.compile(r"(?:United States|U\.S\.|USA?) (\S+ .+)")
_HIGHWAY = re.compile(r"U\.S\. Highway (\d+\w?)")
_SAYS_AMERICAN = re.compile(r"\b(?:United States|American|U\.S\.)")
_PLACE = re.compile(r"(\S+ [^\d()]+) \(([A-Z][^\d()]{2,})\)")
_STATE = " (U.S. state)"
_LEAD = 160  # characters of a lead that say where its subject is
_MANY = 3  # words of a name that hardly any other country has


def merge_country_twins(pool: Pool, leads: Mapping[str, str]) -> None:
    """Merge a title that is no certain page into the one that leaves out, or moves, the country or place."""
    now_leads = {now: lead for title, lead in leads.items() if (now := pool.now(title)) is not None}
    for title, evidence in list(pool.titles.items()):
        if not _is_certain(evidence):
            for other, how in _others(title, now_leads):
                if other != title and other in pool.titles and _is_certain_or_led(pool.titles[other]):
                    pool.merge(title, other, f"twins merged: {how}")
                    break


def _is_certain(evidence: Evidence) -> bool:
    return bool(evidence.kind or evidence.marks & (Mark.ID | Mark.VITAL | Mark.RECENT | Mark.OURS | Mark.AIDA))


def _is_certain_or_led(evidence: Evidence) -> bool:
    return _is_certain(evidence) or bool(evidence.marks & Mark.LEAD)


def _others(title: str, leads: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what else a title may be called, if a lead says so where it must, and how the two differ."""
    if match := _HIGHWAY.fullmatch(title):
        yield f"U.S. Route {match[1]}", "U.S. Highway"
    elif match := _AMERICAN.fullmatch(title):
        name = match[1][0].upper() + match[1][1:]
        if len(name.split()) >= _MANY and _SAYS_AMERICAN.search(leads.get(name, "")[:_LEAD]):
            yield name, "United States before it"
        for other in (f"{name} of the United States", f"{name} (United States)", f"United States {match[1]}"):
            yield other, "United States before it"
    elif title.endswith(_STATE) and _SAYS_AMERICAN.search(leads.get(title.removesuffix(_STATE), "")[:_LEAD]):
        yield title.removesuffix(_STATE), "a place in parenthesis"
    elif match := _PLACE.fullmatch(title):
        lead = fold(leads.get(match[1], "")[:_LEAD].replace(" ,", ","))
        if re.search(rf"\b(?:in|of|from|at|\()(?: the)? (?:[\w-]+,? ){{0,3}}{re.escape(fold(match[2]))}\b", lead):
            yield match[1], "a place in parenthesis"
