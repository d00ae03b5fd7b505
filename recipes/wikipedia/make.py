"""From the data folder to a KB folder: gather, clean, choose, weigh, build, report."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from parlink.kb.build.build import WIKIPEDIA_URL, BuildOptions, build
from parlink.kb.info import Info
from recipes.wikipedia.acronym_twins import merge_acronyms
from recipes.wikipedia.alike_twins import merge_alike
from recipes.wikipedia.club_twins import merge_club_twins
from recipes.wikipedia.collect import Tables, collect, read_tables
from recipes.wikipedia.country_twins import merge_country_twins
from recipes.wikipedia.elsewhere import merge_elsewhere
from recipes.wikipedia.kinds.decide import Kind, decide
from recipes.wikipedia.leave_out import leave_out
from recipes.wikipedia.names import gather_names
from recipes.wikipedia.page_links import gather_page_links
from recipes.wikipedia.parenthesis_twins import merge_parenthesis_twins
from recipes.wikipedia.pool import Pool
from recipes.wikipedia.rank import choose
from recipes.wikipedia.recent_facts import rename, tell_kinds
from recipes.wikipedia.redirects import follow_redirects
from recipes.wikipedia.same_leads import merge_same_leads
from recipes.wikipedia.sources import BIOGRAPHIES, ENWIK8, PAGES_2014, SCHOOLS, Data
from recipes.wikipedia.texts import Texts, gather_texts
from recipes.wikipedia.twins import merge_twins
from recipes.wikipedia.write import describe_entities, write_lines

_log = logging.getLogger(__name__)
TITLES = 2_100_000  # recipes/README.md says what each size costs
_WITH_TEXTS = (ENWIK8, SCHOOLS, PAGES_2014, BIOGRAPHIES)  # in which occurrences of names are counted
_ALL_PAGES = 100_000  # a title: there are 24,000 in all


@dataclass(frozen=True)
class Gathered:
    """All that the sources say, and the pool of titles made of it."""

    texts: Texts
    tables: Tables
    pool: Pool


def make(
    data: Data, output: Path, *, titles: int | None = TITLES, name: str = "wikipedia", replace: bool = False
) -> Info:
    """Make the knowledge base, and a report beside it: `output`.report.html and .json."""
    data.check()
    with _without_collection(), TemporaryDirectory(prefix="recipe-", dir=output.absolute().parent) as folder:
        gathered = gather(data)
        knowledge, links = Path(folder) / "knowledge.jsonl.gz", Path(folder) / "links.jsonl.gz"
        write_sources(gathered, knowledge, links, titles=titles)
        gathered.pool.report.write(output.with_name(f"{output.name}.report"))
        del gathered
        _log.info("building")
        options = BuildOptions(
            name=name,
            url_template=WIKIPEDIA_URL,
            links=[links],
            texts=[data.path(source) for source in _WITH_TEXTS],
            origins=data.describe(),
            pages_a_title=_ALL_PAGES,
            replace=replace,
        )
        return build([knowledge], output, options=options).info


def gather(data: Data) -> Gathered:
    """Read all sources, and clean the pool of their titles."""
    _log.info("reading texts")
    texts = gather_texts(data)
    _log.info("reading tables")
    tables = read_tables(data)
    pool = collect(data, texts, tables)
    _log.info("%s titles before cleaning", f"{len(pool.titles):,}")
    clean(pool, texts, tables)
    _log.info("%s titles", f"{len(pool.titles):,}")
    return Gathered(texts, tables, pool)


def clean(pool: Pool, texts: Texts, tables: Tables) -> None:
    """Merge titles that are one entity, and take out those that are none."""
    follow_redirects(pool, table=tables.redirects, dumps=texts.redirects, lower=tables.lower_redirects)
    rename(pool, tables.recent, ids=dict(tables.ids), leads=tables.leads)
    pool.merge_moved("redirects followed")
    leave_out(pool, disambiguations=texts.disambiguations)
    merge_twins(pool, tables.lower_redirects, tables.leads)
    merge_same_leads(pool, tables.leads)
    merge_parenthesis_twins(pool)
    merge_club_twins(pool, tables.leads)
    merge_elsewhere(pool, texts, tables)
    merge_acronyms(pool, texts, tables)
    merge_country_twins(pool, texts.openings | tables.leads)
    merge_alike(pool, tables.lower_redirects)


def write_sources(gathered: Gathered, knowledge: Path, links: Path, *, titles: int | None) -> None:
    """Write what `parlink kb build` takes, of as many titles as are wanted."""
    pool, texts, tables = gathered.pool, gathered.texts, gathered.tables
    chosen = choose(pool, titles)
    _log.info("weighing the names of %s titles", f"{len(chosen):,}")
    names = gather_names(pool, chosen, texts, tables)
    kinds = _decide_kinds(pool, chosen, texts, tables)
    ids: dict[str, str] = {}
    for title, identifier in tables.ids:
        if (now := pool.now(title)) is not None:
            ids.setdefault(now, identifier)
    write_lines(knowledge, describe_entities(pool, chosen, names=names, kinds=kinds, ids=ids))
    pages = gather_page_links(pool, chosen, texts)
    write_lines(links, ({"title": page, "links": targets} for page, targets in pages))


def _decide_kinds(pool: Pool, chosen: set[str], texts: Texts, tables: Tables) -> dict[str, Kind]:
    leads: dict[str, str] = {}
    for source in (texts.openings, tables.leads):
        leads |= {now: lead for title, lead in source.items() if lead and (now := pool.now(title)) is not None}
    facts: dict[str, tuple[str, str]] = {}
    for title, values in tables.facts.items():
        now = pool.now(title)
        if now is not None and (now not in facts or len(values[1]) > len(facts[now][1])):
            facts[now] = values
    kinds = {
        title: decide(title, pool.titles[title], lead=leads.get(title), facts=facts.get(title)) for title in chosen
    }
    return kinds | tell_kinds(pool, tables.recent, kinds)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Keep Python from searching millions of objects that live to the end for garbage, which doubles the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
