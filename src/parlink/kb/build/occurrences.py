"""Where names occur in texts, and on how many pages they are links there: a second pass, when the names are known.

Pages are counted, not places: a wiki links a name where it first stands on a page, and not again. So a page says
nothing of its own subject, which it never links, and nothing of "Shearer" where it links "Alan Shearer".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import marisa_trie
import msgspec

from parlink.data import files
from parlink.data.parallel import Engine, batches, unless_small
from parlink.data.wikipedia import mediawiki
from parlink.kb import surfaces
from parlink.kb.build.facts import IS_LINKED, OCCURS, Batch
from parlink.kb.build.mediawiki import chunk_pages

WITH_TEXTS = frozenset(["mediawiki", "jsonl"])  # kinds of sources
_LONGEST = 100  # characters of a name that is looked for
_LINES = 500  # that a worker reads at once
_WORD = re.compile(r"\w++")
_Links = Sequence[tuple[int, int]]  # spans, in order


def write_names(names: Iterable[str], path: Path) -> int:
    """Write the names to look for; returns how many there are."""
    trie = marisa_trie.Trie(names)
    trie.save(str(path))
    return len(trie)


def read(path: Path, *, kind: str, names: Path, engine: Engine = map) -> Iterator[Batch]:
    """Count in batches on how many pages of a source each name occurs, and is a link."""
    items: Iterable[list[Any]]
    work: Callable[[list[Any]], Batch]
    if kind == "mediawiki":
        items = chunk_pages(mediawiki.raw_pages(path, on_cut_off=lambda message: None))
        work = _Pass(names, mediawiki.namespace_names(path)).count_pages
    else:
        items = batches((raw for _, raw in files.lines(path)), _LINES)
        work = _Pass(names).count_lines
    return unless_small(path, engine)(work, items)


@dataclass(frozen=True)
class _Pass:
    names: Path
    namespaces: frozenset[str] = frozenset()

    def count_pages(self, pages: list[bytes]) -> Batch:
        """Count in pages of a dump."""
        batch = Batch(entries=len(pages), size=sum(map(len, pages)))
        prefixes = {name.replace("_", " "): 1 for name in self.namespaces}
        for raw in pages:
            page = mediawiki.parse(raw, prefixes)
            if page.redirect is None and not mediawiki.skip_reason(page.title, page.text, namespace=page.namespace):
                text, links = mediawiki.clean(page.text, namespaces=self.namespaces)
                self._count(batch, page.title, [(text, [(start, end) for start, end, _ in links])])
        return batch

    def count_lines(self, lines: list[bytes]) -> Batch:
        """Count in JSON lines that have texts; they were read before, and are in order."""
        batch = Batch(entries=len(lines), size=sum(map(len, lines)))
        for raw in lines:
            values = msgspec.json.decode(raw, type=dict[str, Any])
            pieces = [values] if values.get("text") is not None else values.get("paragraphs") or []
            subject = str(values.get("title") or "")
            self._count(batch, subject, [(piece["text"], self._links(piece)) for piece in pieces])
        return batch

    def _links(self, piece: dict[str, Any]) -> list[tuple[int, int]]:
        """Return the links of a piece; of one that lost its target and its end, the longest name that begins there."""
        links = _spans(piece.get("links") or [])
        for start in piece.get("deleted_link_starts") or ():
            names = list(_find_at(piece["text"], start, len(piece["text"]), _open(self.names)))
            if names:
                links.append((start, start + len(names[-1])))
        return links

    def _count(self, batch: Batch, subject: str, pieces: Sequence[tuple[str, _Links]]) -> None:
        """Count one page, which may consist of several pieces."""
        names = _open(self.names)
        links_of_page = {" ".join(text[start:end].split()) for text, links in pieces for start, end in links}
        linked = {surface for surface in links_of_page if surface in names}
        occurring: set[str] = set().union(*(find(text, links, names) for text, links in pieces))
        occurring.difference_update(_shorten(subject), *map(surfaces.parts, links_of_page))
        occurring |= linked
        batch.occurrences.update((surface, OCCURS) for surface in occurring)
        batch.occurrences.update((surface, IS_LINKED) for surface in linked)


def _shorten(subject: str) -> Iterator[str]:
    """Yield what a page calls its subject."""
    yield subject
    yield surfaces.drop_parenthesis(subject) or subject
    yield from surfaces.parts(subject)


def find(text: str, links: _Links, names: Any) -> Iterator[str]:
    """Yield the names that stand in a text as whole words and outside its links."""
    ordered = sorted(links)
    starts, ends = [start for start, _ in ordered], list(accumulate((end for _, end in ordered), max))
    for word in _WORD.finditer(text):
        start = word.start()
        place = bisect_right(starts, start)
        if place and start < ends[place - 1]:
            continue
        yield from _find_at(text, start, starts[place] if place < len(starts) else len(text), names)


def _find_at(text: str, start: int, limit: int, names: Any) -> Iterator[str]:
    """Yield the names that begin at a place and end with a word before `limit`, the longest last."""
    for name in names.prefixes(text[start : min(limit, start + _LONGEST)]):
        end = start + len(name)
        if end == len(text) or not (text[end - 1].isalnum() and text[end].isalnum()):
            yield name


def _spans(links: list[Any]) -> list[tuple[int, int]]:
    """Return the spans of links of documents, {"start", "end"}, or of articles, [start, end, title]."""
    return [(link["start"], link["end"]) if isinstance(link, dict) else (link[0], link[1]) for link in links]


@lru_cache(maxsize=1)
def _open(path: Path) -> Any:
    return marisa_trie.Trie().mmap(str(path))
