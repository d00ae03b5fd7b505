"""Titles that other titles replaced: by a table of today, by redirects of old dumps, by names in small letters."""

from __future__ import annotations

from collections.abc import Mapping

from recipes.wikipedia.evidence import Mark
from recipes.wikipedia.pool import Pool


def follow_redirects(
    pool: Pool, *, table: Mapping[str, str], dumps: Mapping[str, str], lower: Mapping[str, str]
) -> None:
    """Lead from titles to those that replaced them; of sources that differ the one named first is right."""
    pool.moved.update(table)
    _follow_dumps(pool, table, dumps)
    _follow_lower(pool, lower)


def _follow_dumps(pool: Pool, table: Mapping[str, str], dumps: Mapping[str, str]) -> None:
    for old, new in dumps.items():
        evidence = pool.titles.get(old)
        if old in pool.moved or table.get(new) == old:
            continue
        if evidence is not None and evidence.is_page:
            pool.report.add("redirects of a dump not followed: a page elsewhere", f"{old} → {new}")
        else:
            pool.moved[old] = new


def _follow_lower(pool: Pool, lower: Mapping[str, str]) -> None:
    """Follow names in small letters, from titles that are not known to be pages of their own."""
    for title, evidence in pool.titles.items():
        new = lower.get(title.lower())
        if title in pool.moved or new not in pool.titles or new.lower() == title.lower():
            continue
        of_its_own = evidence.kind or evidence.marks & (Mark.ID | Mark.VITAL | Mark.RECENT | Mark.OURS)
        if of_its_own or evidence.strength > pool.titles[new].strength:
            pool.report.add(
                "redirects in small letters not followed: a page of its own, or stronger", f"{title} → {new}"
            )
        else:
            pool.moved[title] = new
            pool.report.add("redirects in small letters followed", f"{title} → {new}")
