"""Pages, redirects and links of a MediaWiki XML dump, read by one process and parsed by all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from parlink.data.parallel import Engine, unless_small
from parlink.data.wikipedia import mediawiki
from parlink.data.wikipedia.wikitext import article
from parlink.kb.build.entries import add_page
from parlink.kb.build.facts import KNOWN_TITLE, Batch, Fact, Kind, PageFact
from parlink.kb.surfaces import drop_parenthesis

LONGEST_ANCHOR = 255  # characters; what is longer is no name
CHUNK_BYTES = 4 << 20  # of pages that a worker parses at once


@dataclass(frozen=True)
class Dump:
    """What has to be known of a dump to parse its pages."""

    source: int
    namespaces: Collection[str]
    page_numbers: bool = False  # whether to tell the number of each page

    def parse(self, pages: list[bytes]) -> Batch:
        """Turn pages into facts."""
        batch = Batch(entries=len(pages), size=sum(map(len, pages)))
        prefixes = {name.replace("_", " "): 1 for name in self.namespaces}  # 1: any that is not that of articles
        for raw in pages:
            _add_page(batch, mediawiki.parse(raw, prefixes), dump=self)
        return batch


def read(path: Path, *, source: int, engine: Engine = map, page_numbers: bool = False) -> Iterator[Batch]:
    """Read a dump in batches, in order; one that is cut off gives the pages that are whole, and a warning."""
    dump = Dump(source, mediawiki.namespace_names(path), page_numbers)
    warnings: list[str] = []
    chunks = chunk_pages(mediawiki.raw_pages(path, on_cut_off=warnings.append))
    yield from unless_small(path, engine)(dump.parse, chunks)
    yield Batch(warnings=warnings)


def chunk_pages(pages: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield pages in lists of some megabytes, one a piece of work."""
    chunk: list[bytes] = []
    size = 0
    for page in pages:
        chunk.append(page)
        size += len(page)
        if size >= CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _add_page(batch: Batch, page: mediawiki.Page, *, dump: Dump) -> None:
    title = mediawiki.normal_target(page.title)
    if dump.page_numbers and page.id is not None and page.namespace == 0 and page.redirect is None and title:
        batch.page_facts.append(PageFact(page.id, KNOWN_TITLE, title))
    if page.redirect is not None and page.namespace == 0:
        batch.skipped["redirect"] += 1
        target = article(page.redirect, dump.namespaces)
        if target and target != title:
            batch.facts[Fact(target, "", Kind.REDIRECT, title)] += 1
        return
    reason = mediawiki.skip_reason(title, page.text, namespace=page.namespace)
    if reason is None:
        batch.facts[Fact(title, "", Kind.NAME, str(dump.source))] += 1
    else:
        batch.skipped[reason] += 1
        if reason == "namespace":
            return
        batch.facts[Fact(title, "", Kind.LEFT_OUT, reason)] += 1
    targets = set()
    for anchor, target in mediawiki.links(page.text, namespaces=dump.namespaces):
        if len(anchor) <= LONGEST_ANCHOR:
            targets.add(target)
            batch.facts[Fact(target, "", Kind.LINK, anchor)] += 1
    if reason in (None, "list"):
        add_page(batch, title, targets | {title})
    if reason == "disambiguation":
        _add_meanings(batch, title, page.text, dump=dump)


def _add_meanings(batch: Batch, title: str, text: str, *, dump: Dump) -> None:
    """Add the first link of each item of a disambiguation page as what its title may mean."""
    surface = drop_parenthesis(title) or title
    for line in text.split("\n"):
        if line.startswith("*"):
            for _, target in islice(mediawiki.links(line, namespaces=dump.namespaces), 1):
                batch.facts[Fact(target, "", Kind.LISTED, surface)] += 0
