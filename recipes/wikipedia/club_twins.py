"""Twins of which one has the ending of a football club: "Western Sydney Wanderers" is "Western Sydney Wanderers FC"."""

from __future__ import annotations

import re
from collections.abc import Mapping

from recipes.wikipedia.kinds.noun_phrases import noun_phrase
from recipes.wikipedia.pool import Pool

_ENDINGS = (" FC", " F.C.", " AFC", " A.F.C.", " SC", " S.C.", " CF", " C.F.")
_CLUB = re.compile(r"\b(?:football|soccer|sports) (?:club|team)\b")


def merge_club_twins(pool: Pool, leads: Mapping[str, str]) -> None:
    """Merge a title whose lead says that it is a club into the club of that name; without a lead it may be a town."""
    for title, evidence in list(pool.titles.items()):
        name = title.rpartition(" ")[0]
        other = pool.titles.get(name)
        if evidence.kind != "SoccerClub" or not title.endswith(_ENDINGS) or other is None or other.kind:
            continue
        if _CLUB.search(noun_phrase(leads.get(name, "")) or ""):
            pool.merge(name, title, "twins merged: a club's ending")
