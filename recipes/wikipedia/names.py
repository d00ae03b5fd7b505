"""By which names each title is found, and what speaks for each name: links, tables, priors, redirects, lists."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container
from dataclasses import dataclass

from recipes.wikipedia.collect import Tables
from recipes.wikipedia.pool import Pool
from recipes.wikipedia.recent_facts import weigh_aliases
from recipes.wikipedia.texts import Texts


class Sign:
    """What else speaks for a name. Plain integers, since there are millions of them."""

    ALIAS = 1
    REDIRECT = 2
    LOWER_REDIRECT = 4
    LISTED = 8


@dataclass(slots=True)
class NameEvidence:
    """What speaks for a name of a title."""

    text_links: int = 0
    table_links: int = 0
    prior: float = 0.0  # of names.tsv.gz
    candidate_prior: float = 0.0  # of AIDA's candidates
    fame: float = 0.0  # links of running text that our own tables say it is worth
    signs: int = 0


Names = dict[str, dict[str, NameEvidence]]  # title, surface


def gather_names(pool: Pool, titles: Container[str], texts: Texts, tables: Tables) -> Names:
    """Return the names of some titles of the pool, all redirects followed."""
    names: defaultdict[str, defaultdict[str, NameEvidence]] = defaultdict(lambda: defaultdict(NameEvidence))

    def find(surface: str, title: str) -> NameEvidence | None:
        now = pool.now(title)
        return names[now][surface] if now is not None and now in titles else None

    for (surface, title), count in texts.all_links:
        if name := find(surface, title):
            name.text_links += count
    for (surface, title), prior in texts.candidates.items():
        if name := find(surface, title):
            name.candidate_prior += prior
    _take_rows(tables, find)
    for surface, title in texts.listed:
        if name := find(surface, title):
            name.signs |= Sign.LISTED
    for surface, title in tables.lower_redirects.items():
        if name := find(surface, title):
            name.signs |= Sign.LOWER_REDIRECT
    for surface, title, worth in weigh_aliases(pool, tables.recent, texts.links):
        if name := find(surface, title):
            name.fame = max(name.fame, worth)
    for former in pool.moved:
        if former not in pool.titles and (name := find(former, former)):
            name.signs |= Sign.REDIRECT
    return {title: dict(of_title) for title, of_title in names.items()}


def _take_rows(tables: Tables, find: Callable[[str, str], NameEvidence | None]) -> None:
    for surface, title, count, kind in tables.names:
        name = find(surface, title)
        if name is None:
            continue
        if kind == "anchor":
            name.table_links += count
        elif kind == "prior":
            name.prior += count / 100
        else:
            name.signs |= Sign.ALIAS
