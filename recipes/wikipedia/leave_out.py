"""Titles that are no entities: disambiguation pages, lists, dates, sections, bare labels of what says more."""

from __future__ import annotations

import re
from collections.abc import Collection

from parlink.data.wikipedia.dates import is_date_or_number
from parlink.data.wikipedia.wikitext import NAMESPACES
from parlink.kb.surfaces import drop_parenthesis
from recipes.wikipedia.evidence import Evidence, Mark
from recipes.wikipedia.pool import Pool
from recipes.wikipedia.spelling import drop_state

_LIST = re.compile(r"(?:Lists?|Index|Outline|Timeline|Glossary|Table|Comparison) of |List \(")
_SECTION = re.compile(r"\b\S* ?CareerStation|__\d+$|#")
_NUMBERED = re.compile(r".* Engine .*\d|.+__.+|.* \d{1,2}")
_VALUE = re.compile(r'<.+>|".*"(?:@[a-z-]+|\^\^.+)')  # of RDF, such as "AFC Ajax NV"@en
_QUOTED = re.compile(r'"[^"]*"')
_LONGEST = 120  # characters
_OUTSIDE = frozenset(["wikt", "wiktionary", *NAMESPACES])
_JUNK = frozenset(["Template"])  # linked from 1,655 pages of enwik8 by broken templates


def leave_out(pool: Pool, *, disambiguations: Collection[str]) -> None:
    """Take titles that are no entities out of the pool."""
    with_parenthesis = {short for title in pool.titles if (short := drop_parenthesis(title))}
    with_comma = {place for title, evidence in pool.titles.items() if evidence.is_page and (place := drop_state(title))}
    for title, evidence in list(pool.titles.items()):
        reason = _reason(title, evidence, title in disambiguations)
        is_ambiguous = title in with_parenthesis or title in with_comma
        if reason is None and is_ambiguous and evidence.is_label:
            if not _is_known(evidence):
                more = "a parenthesis" if title in with_parenthesis else "a comma"
                reason = f"bare labels beside titles with {more}"
            elif not evidence.is_page:
                evidence.count = 0  # uses of a label, which may mean any of the titles
        if reason and not evidence.marks & Mark.OURS:
            pool.leave_out(title, reason)


def _reason(title: str, evidence: Evidence, is_disambiguation: bool) -> str | None:
    if title.endswith("(disambiguation)") or (is_disambiguation and not evidence.is_page):
        return "disambiguation pages"
    if _LIST.match(title):
        return "lists"
    if is_date_or_number(title):
        return "dates and numbers"
    if evidence.kind == "Sales" or _SECTION.search(title) or _is_engine(title, evidence):
        return "career stations, engines and sections"
    if _VALUE.fullmatch(title) or (_QUOTED.fullmatch(title) and evidence.lists and not _is_known(evidence)):
        return "values, not titles"
    if not any(map(str.isalnum, title)) and not (evidence.text_links or evidence.kind):
        return "no letters"
    if len(title) > _LONGEST:
        return f"longer than {_LONGEST} characters"
    prefix, colon, _ = title.partition(":")
    if colon and prefix.lower().replace(" ", "_") in _OUTSIDE:
        return "namespaces"
    return "junk" if title in _JUNK else None


def _is_engine(title: str, evidence: Evidence) -> bool:
    used = evidence.count or evidence.links
    return evidence.kind == "AutomobileEngine" and not used and _NUMBERED.fullmatch(title) is not None


def _is_known(evidence: Evidence) -> bool:
    """Whether more than lists of labels know it, which may mean any of the titles that say more."""
    return bool(evidence.is_page or evidence.text_links or evidence.marks & (Mark.AIDA | Mark.ARTICLE))
