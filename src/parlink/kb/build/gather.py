"""All facts of all sources, brought to the titles of now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from parlink.kb.build.facts import Fact, Kind
from parlink.kb.build.merge import bring_to_now
from parlink.kb.build.redirects import Claim, Redirects
from parlink.kb.build.spill import Spill


class Gathering:
    """Facts, and what they claim about redirects, in bounded memory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._facts: Spill[Fact] = Spill(folder, "facts", make=Fact._make)
        self._claims: Spill[Claim] = Spill(folder, "claims")
        self._highest = 0

    def take(self, facts: Iterable[tuple[Fact, int]], *, rank: int) -> None:
        """Take in what a source says; of two that differ about a redirect, the one with the higher rank is right."""
        self._highest = max(self._highest, rank)
        for fact, count in facts:
            self._facts.add(fact, count)
            if fact.kind == Kind.REDIRECT:
                self._claims.add((fact.value, -rank, fact.title))
            elif fact.kind == Kind.NAME:
                self._claims.add((fact.title, -rank, fact.title))

    def take_redirects(self, redirects: Mapping[str, str]) -> int:
        """Take in redirects that overrule all sources; returns how many."""
        pairs = ((Fact(new, "", Kind.REDIRECT, old), 1) for old, new in redirects.items() if old != new)
        self.take(pairs, rank=self._highest + 1)
        return len(redirects)

    def take_ids(self, ids: Iterable[tuple[str, str]]) -> int:
        """Take in ids of titles; returns how many."""
        taken = 0
        for title, identifier in ids:
            self._facts.add(Fact(title, "", Kind.IDENTIFIER, identifier))
            taken += 1
        return taken

    def by_title_of_now(self) -> Iterator[tuple[Fact, int]]:
        """Yield all facts, redirects followed, sorted by title; once only."""
        redirects = Redirects(self._claims)
        self._claims.close()
        moved: Spill[Fact] = Spill(self._folder, "moved", make=Fact._make)
        moved.update(bring_to_now(self._facts, redirects.resolve))
        self._facts.close()
        return iter(moved)
