"""Twins: titles that differ in case, accents, punctuation or a leading "The", and are one entity."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from parlink.kb.surfaces import drop_parenthesis, fold
from recipes.wikipedia.evidence import Evidence, Mark
from recipes.wikipedia.kinds.noun_phrases import noun_phrase
from recipes.wikipedia.pool import Pool

_DASHES = re.compile(r"\s*[-‐-―−/]\s*")
_MARKS = re.compile(r"[.,'’‘`\"“”]|(?<=[A-Za-z])!$")
_INITIALS = re.compile(r"\.\s+(?=\S\.)")
_US = re.compile(r"\bU\.S\.(?= \w)")
_SHORT = 4  # letters of a title in which each says much
_ACRONYM = 5  # letters of the longest word that is another when it is in capitals
_LONG_PHRASE = 3  # words of a lead that two titles have by no accident
_LONG = 3  # words of a title that means the same with and without "The"
# What is named by a common word, which in small letters means something else.
_CLASSES_NAMED_BY_WORDS = """AcademicJournal Airline Band Book FictionalCharacter Magazine MilitaryUnit Musical
    Newspaper Play RadioStation RecordLabel Ship SoccerClub Song SportsTeam TelevisionEpisode
    TelevisionStation VideoGame Wrestler"""
_NAMED_BY_WORDS = frozenset(_CLASSES_NAMED_BY_WORDS.split())


def merge_twins(pool: Pool, redirects: Mapping[str, str], leads: Mapping[str, str]) -> None:
    """Merge twins into the strongest; `redirects` lead from titles in small letters to titles."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for title in pool.titles:
        groups[fold(_drop_marks(_drop_article(title)))].append(title)
    for key, titles in groups.items():
        if len(titles) > 1 and key:
            _merge_group(
                pool, sorted(titles, key=lambda title: (-pool.titles[title].strength, title)), redirects, leads
            )


def _merge_group(pool: Pool, titles: list[str], redirects: Mapping[str, str], leads: Mapping[str, str]) -> None:
    distinct = titles[:1]
    for title in titles[1:]:
        for other in distinct:
            difference = _difference(title, other)
            reason = _reason_to_keep(pool, title, other, difference, redirects)
            if reason and difference == "case" and _say_the_same(pool, title, other, leads):
                difference, reason = "case, and class or leads say the same", None
            if reason is None:
                pool.merge(title, other, f"twins merged: {difference}")
                break
        else:
            pool.report.add(f"twins kept: {reason}", f"{title} | {distinct[0]}")
            distinct.append(title)


def _difference(title: str, other: str) -> str | None:
    """Say how two titles of one group differ; None: in too much."""
    if (_drop_article(title) == title) != (_drop_article(other) == other):
        same = _drop_marks(_drop_article(title)) == _drop_marks(_drop_article(other))
        return "the" if same else None
    if title.lower() == other.lower():
        return "case"
    if fold(title) == fold(other):
        return "accents"
    return "punctuation" if len(title) > _SHORT else None


def _reason_to_keep(
    pool: Pool, title: str, other: str, difference: str | None, redirects: Mapping[str, str]
) -> str | None:
    """Say why twins are two entities; None: they are one."""
    one, two = pool.titles[title], pool.titles[other]
    if difference is None:
        return "too far apart"
    if _leads(redirects, title, other):
        return None
    if difference == "case":
        return _keep_case(title, other, one, two)
    if one.is_page and two.is_page and (difference == "the" or _differ(one, two)):
        return f"{difference}, both are pages"
    if difference == "the":
        words = (drop_parenthesis(title) or title).split()
        return None if len(_drop_article(" ".join(words)).split()) >= _LONG else "the, less than three words"
    if one.marks & two.marks & Mark.ID:
        return f"{difference}, both have ids"
    return _keep_accents(title, one, two) if difference == "accents" else None


def _keep_accents(title: str, one: Evidence, two: Evidence) -> str | None:
    """Names of one word that differ in accents are often two; those of persons are seldom."""
    if sum(map(str.isalpha, title)) <= _SHORT:
        return "accents, short"
    if " " not in title and ((one.links and two.links) or (one.is_page and two.is_page)):
        return "accents, a word and both are used"
    return None


def _keep_case(title: str, other: str, one: Evidence, two: Evidence) -> str | None:
    if one.is_page and two.is_page and (_differ(one, two) or not (one.kind or two.kind)):
        return "case, both are pages"
    if title.isupper() != other.isupper() and " " not in title and len(title) <= _ACRONYM:
        return "case, one is an acronym"
    is_word = title[1:].islower() or other[1:].islower()
    if is_word and not _NAMED_BY_WORDS.isdisjoint((one.kind, two.kind)):
        return "case, one is named by a common word"
    return None


def _say_the_same(pool: Pool, title: str, other: str, leads: Mapping[str, str]) -> bool:
    """Whether titles of several words that differ in case are one by their class, or by how their leads begin."""
    one, two = pool.titles[title], pool.titles[other]
    if " " not in (drop_parenthesis(title) or title) or _differ(one, two) or one.marks & two.marks & Mark.ID:
        return False
    if "MilitaryUnit" in (one.kind, two.kind):
        return True  # an army in small letters is that army
    if one.kind and two.kind:
        return not any(len(word) > 1 and word.isupper() for word in f"{title} {other}".split())
    phrases = [noun_phrase(leads.get(each, "")) for each in (title, other)]
    return phrases[0] is not None and phrases[0] == phrases[1] and len(phrases[0].split()) >= _LONG_PHRASE


def _differ(one: Evidence, two: Evidence) -> bool:
    return bool(one.kind and two.kind) and one.kind != two.kind


def _leads(redirects: Mapping[str, str], title: str, other: str) -> bool:
    """Whether a redirect says that the two are one, and not only that they are spelled alike in small letters."""
    lower = title.lower(), other.lower()
    return lower[0] != lower[1] and (redirects.get(lower[0]) == other or redirects.get(lower[1]) == title)


def _drop_marks(title: str) -> str:
    spaced = _DASHES.sub(" ", _INITIALS.sub(".", _US.sub("United States", title))).replace(" & ", " and ")
    return " ".join(_MARKS.sub("", spaced).split())


def _drop_article(title: str) -> str:
    """Drop a leading "The", if more than one word follows."""
    return title[4:] if title.startswith("The ") and " " in title[4:] else title
