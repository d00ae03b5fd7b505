"""All sources into one pool of titles with evidence, and the tables that later steps need."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import msgspec

from parlink.data import files, jsonl
from parlink.data.references import unescape_title
from parlink.data.titles import read_redirects
from recipes.wikipedia import sources
from recipes.wikipedia.evidence import Mark, unite
from recipes.wikipedia.kinds.noun_phrases import space_punctuation
from recipes.wikipedia.pool import Pool
from recipes.wikipedia.recent_facts import Recent, mark_recent, read_recent
from recipes.wikipedia.sources import Data
from recipes.wikipedia.spelling import spell
from recipes.wikipedia.texts import Texts

_LONGEST_LEAD = 600  # characters


class NameRow(NamedTuple):
    """A row of names.tsv.gz; the number of a prior is a hundred times p(title | surface)."""

    surface: str
    title: str
    number: int  # how often it was seen
    kind: str  # anchor, alias or prior


@dataclass(frozen=True)
class Tables:
    """What the tables say beside the titles themselves."""

    names: list[NameRow]
    redirects: dict[str, str]  # former title to current title
    lower_redirects: dict[str, str]  # alias in small letters to title
    ids: list[tuple[str, str]]  # title, Wikidata id
    leads: dict[str, str]  # title, its first sentences
    vital: frozenset[str]  # titles
    facts: dict[str, tuple[str, str]]  # title, its DBpedia class and `property=label` facts
    recent: Recent = field(default_factory=Recent)


def read_tables(data: Data) -> Tables:
    """Read the tables that several steps need."""
    redirects = {spell(old): spell(new) for old, new in read_redirects(data.path(sources.REDIRECTS)).items()}
    data.entries[sources.REDIRECTS] = len(redirects)
    vital = {
        spell(title): space_punctuation(summary.extract[:_LONGEST_LEAD])
        for title, summary in _read_summaries(data).items()
    }
    leads = vital | {spell(row["title"]): row["text"] for row in data.objects(sources.LEADS)}
    return Tables(
        names=[
            NameRow(plain, spell(title), int(count), kind)
            for surface, title, count, kind in data.rows(sources.NAMES)
            if (plain := " ".join(unescape_title(surface).split()))
        ],
        redirects={old: new for old, new in redirects.items() if old != new},
        lower_redirects={alias: spell(title) for alias, title in data.rows(sources.LOWER_REDIRECTS) if alias.strip()},
        ids=[(spell(title), identifier) for title, identifier in data.rows(sources.IDS)],
        leads=leads,
        vital=frozenset(vital),
        facts={spell(row[0]): (row[1], row[2] if len(row) > 2 else "") for row in data.rows(sources.FACTS)},
        recent=read_recent(data),
    )


def collect(data: Data, texts: Texts, tables: Tables) -> Pool:
    """Return all titles that any source knows."""
    pool = Pool()
    for title, kind, count, lists in data.rows(sources.TITLES):
        evidence = pool.evidence(spell(title))
        evidence.kind = kind or evidence.kind
        evidence.count += int(count)
        evidence.lists = unite(evidence.lists, _split(lists))
    for title, (kind, _) in tables.facts.items():
        evidence = pool.evidence(title)
        evidence.marks |= Mark.FACTS
        evidence.kind = evidence.kind or kind
    _mark(pool, tables.leads, Mark.LEAD)
    _mark(pool, tables.vital, Mark.VITAL)
    _mark(pool, (title for title, _ in tables.ids), Mark.ID)
    _take_texts(pool, texts)
    _take_names(pool, tables)
    for name, count in data.rows(sources.CASED):
        if spell(name) not in pool.titles:
            evidence = pool.evidence(spell(name))
            evidence.marks, evidence.seen = Mark.CASED, int(count)
    mark_recent(pool, tables.recent)
    return pool


def _take_texts(pool: Pool, texts: Texts) -> None:
    _mark(pool, texts.articles, Mark.ARTICLE)
    _mark(pool, texts.recent, Mark.RECENT)
    for (_, title), count in texts.all_links:
        pool.evidence(title).text_links += count
    _mark(pool, (title for _, title in texts.aida_links), Mark.AIDA)
    _mark(pool, (title for _, title in texts.candidates), Mark.CANDIDATE)
    _mark(pool, (title for _, title in texts.listed), Mark.LISTED)
    for _, links in texts.table_pages:
        for title in links:
            pool.evidence(title).table_links += 1


def _take_names(pool: Pool, tables: Tables) -> None:
    for _, title, count, kind in tables.names:
        evidence = pool.evidence(title)
        evidence.marks |= Mark.NAMED
        if kind == "anchor":
            evidence.table_links += count
    for title in tables.lower_redirects.values():
        if title in pool.titles:
            pool.titles[title].redirects += 1


def _mark(pool: Pool, titles: Iterable[str], mark: int) -> None:
    for title in titles:
        pool.evidence(title).marks |= mark


class _Summary(msgspec.Struct):
    extract: str


def _read_summaries(data: Data) -> dict[str, _Summary]:
    path = data.path(sources.VITAL)
    wanted = "wanted an object of title to {'extract'}"
    summaries = jsonl.parse(files.content(path), dict[str, _Summary], path=path, wanted=wanted)
    data.entries[sources.VITAL] = len(summaries)
    return summaries


@cache
def _split(lists: str) -> frozenset[str]:
    return frozenset(filter(None, lists.split(",")))
