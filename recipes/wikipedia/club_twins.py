"""Twins of which one has the ending of a football club: "Western Sydney Wanderers" is "Western Sydney Wanderers FC"."""

from __future__ import annotations

from recipes.wikipedia.evidence import Evidence
from recipes.wikipedia.pool import Pool

_ENDINGS = (" FC", " F.C.", " AFC", " A.F.C.", " SC", " S.C.", " CF", " C.F.")
_MORE = 2.0  # times as well known


def merge_club_twins(pool: Pool) -> None:
    """Merge what only links know into the club of that name; a single word is the club's town as often."""
    for title, evidence in list(pool.titles.items()):
        if evidence.kind != "SoccerClub" or not title.endswith(_ENDINGS):
            continue
        name = title.rpartition(" ")[0]
        other = pool.titles.get(name)
        if other is not None and " " in name and _is_weak(other, evidence):
            pool.merge(name, title, "twins merged: a club's ending")


def _is_weak(other: Evidence, club: Evidence) -> bool:
    return not other.is_page and _MORE * other.popularity < club.popularity
