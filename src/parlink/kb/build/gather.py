"""All facts of all sources, a folder a source so that a build that was stopped can go on, at the titles of now."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

import msgspec

from parlink.kb.build.facts import Batch, Fact, Kind, Occurrence, PageFact
from parlink.kb.build.merge import bring_to_now
from parlink.kb.build.redirects import MAX_RANK, Claim, Redirects
from parlink.kb.build.spill import Spill, merge_spills
from parlink.kb.build.sql import resolve_pages
from parlink.kb.info import Source

DONE_FILE = "done.json"  # in the folder of a source: all of it was gathered


class _Done(msgspec.Struct):
    key: str  # of what the source is, and how it was read
    source: Source


class Part:
    """What one source says, in bounded memory."""

    def __init__(self, folder: Path, *, rank: int, key: str) -> None:
        self._folder, self._rank, self._key = folder, rank, key
        self.source = self._read_done()
        if self.source is None:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        self.facts: Spill[Fact] = Spill(folder, "facts", make=Fact._make)
        self.claims: Spill[Claim] = Spill(folder, "claims")
        self.pages: Spill[PageFact] = Spill(folder, "pages", make=PageFact._make)
        self.occurrences: Spill[Occurrence] = Spill(folder, "occurrences")

    def take(self, batch: Batch) -> None:
        """Take in a piece of the source."""
        self.take_facts(batch.facts.items())
        for fact in batch.page_facts:
            self.pages.add(fact)
        for surface, count in batch.occurrences.items():
            self.occurrences.add(surface, count)

    def take_facts(self, facts: Iterable[tuple[Fact, int]]) -> None:
        """Take in facts, and what they claim about redirects."""
        for fact, count in facts:
            self.facts.add(fact, count)
            if fact.kind == Kind.REDIRECT:
                self.claims.add((fact.value, MAX_RANK - self._rank, fact.title))
            elif fact.kind == Kind.NAME:
                self.claims.add((fact.title, MAX_RANK - self._rank, fact.title))

    def finish(self, source: Source) -> Source:
        """Keep what was taken in; a build that is stopped and resumed finds it again."""
        for spill in (self.facts, self.claims, self.pages, self.occurrences):
            spill.flush()
        self.source = source
        (self._folder / DONE_FILE).write_bytes(msgspec.json.encode(_Done(self._key, source)))
        return source

    def _read_done(self) -> Source | None:
        try:
            done = msgspec.json.decode((self._folder / DONE_FILE).read_bytes(), type=_Done)
        except (OSError, msgspec.DecodeError):
            return None
        return done.source if done.key == self._key else None


class Gathering:
    """The parts of all sources. Of two that differ about a redirect, the later one is right."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: list[Part] = []
        self._keys = sha256()

    def open_part(self, *settings: object) -> Part:
        """Make a part, or find it again as it was; `settings` are what it depends on beside the parts before it."""
        self._keys.update(repr(settings).encode())
        part = Part(self._folder / f"part-{len(self._parts)}", rank=len(self._parts), key=self._keys.hexdigest())
        self._parts.append(part)
        return part

    def take_redirects(self, redirects: Mapping[str, str]) -> int:
        """Take in redirects that overrule all sources before; returns how many."""
        pairs = ((Fact(new, "", Kind.REDIRECT, old), 1) for old, new in redirects.items() if old != new)
        self.open_part("redirects").take_facts(pairs)
        return len(redirects)

    def take_ids(self, ids: Iterable[tuple[str, str]]) -> int:
        """Take in ids of titles; returns how many."""
        part = self.open_part("ids")
        taken = 0
        for title, identifier in ids:
            part.facts.add(Fact(title, "", Kind.IDENTIFIER, identifier))
            taken += 1
        return taken

    def resolve_page_numbers(self) -> None:
        """Turn what the tables of a wiki say of page numbers into facts about titles."""
        facts = resolve_pages(merge_spills([part.pages for part in self._parts]), source=len(self._parts))
        self.open_part("page numbers").take_facts((fact, 1) for fact in facts)

    def surfaces(self, *, aliases: bool = False) -> Iterator[str]:
        """Yield what texts link, or also all `aliases`, in no order, and one of them perhaps several times."""
        for fact, _ in merge_spills([part.facts for part in self._parts]):
            if fact.kind == Kind.LINK or (aliases and fact.kind == Kind.ALIAS):
                yield fact.value

    def occurrences(self) -> Iterator[tuple[Occurrence, int]]:
        """Yield on how many pages surfaces occur, and are linked, sorted by surface."""
        return merge_spills([part.occurrences for part in self._parts])

    def by_title_of_now(self) -> Iterator[tuple[Fact, int]]:
        """Yield all facts, redirects followed, sorted by title."""
        redirects = Redirects(merge_spills([part.claims for part in self._parts]))
        moved: Spill[Fact] = Spill(self._folder, "moved", make=Fact._make)
        moved.update(bring_to_now(merge_spills([part.facts for part in self._parts]), redirects.resolve))
        return iter(moved)
