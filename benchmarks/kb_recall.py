"""How often a knowledge base holds the right title of a gold mention, offers it among 30, and ranks it first.

    python benchmarks/kb_recall.py KB_FOLDER DATA.jsonl [DATA.jsonl ...]

The gold titles of the sets in gold_titles.json were fixed once, whatever knowledge base is compared, since these sets
give Wikidata labels or titles of many years; names are told apart from common nouns there. DATA may be a set as
ELEVANT and others give it (`mentions`), known to gold_titles.json by its file name, or JSONL of our own (`links`).
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parlink.data import files, jsonl
from parlink.kb import KnowledgeBase

GOLD = Path(__file__).with_name("gold_titles.json")


@dataclass(frozen=True)
class Gold:
    """A gold mention, the titles that are right for it, and whether it is a name, a noun or a pronoun."""

    surface: str
    titles: tuple[str, ...]
    kind: str


@dataclass
class Score:
    """Sums over gold mentions."""

    mentions: int = 0
    held: int = 0
    offered: int = 0
    first: int = 0
    candidates: int = 0

    def shares(self) -> tuple[float, ...]:
        """Return held, offered and first in percent, and candidates a mention."""
        shares = (100 * each / self.mentions for each in (self.held, self.offered, self.first))
        return (*shares, self.candidates / self.mentions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kb", type=Path)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=30)
    parser.add_argument("--misses", type=int, default=0, help="show the most frequent misses")
    options = parser.parse_args()
    kb = KnowledgeBase.open(options.kb)
    fixed = json.loads(GOLD.read_text())["sets"]
    print(f"{kb.name}: {len(kb):,} titles, {kb.info.names:,} names; {options.limit} candidates at most")
    print(f"{'set':34} mentions  in KB  among {options.limit}  first  candidates")
    sums: dict[tuple[str, str], Score] = {}
    for path in options.data:
        missed = measure(kb, path, fixed.get(path.stem), options.limit, sums)
        for (surface, title), count in missed.most_common(options.misses):
            print(f"{count:4} {surface} -> {title}{'' if kb.resolve(title, ids=False) else ' (not in KB)'}")
    if len(options.data) > 1:
        for kind in ("all", "names", "nouns"):
            show_mean(kind, [score for (_, of_kind), score in sums.items() if of_kind == kind])


def measure(
    kb: KnowledgeBase, path: Path, fixed: dict[str, Any] | None, limit: int, sums: dict[tuple[str, str], Score]
) -> Counter[tuple[str, str]]:
    scores: dict[str, Score] = {}
    missed: Counter[tuple[str, str]] = Counter()
    for gold in read_links(path) if fixed is None else read_fixed(path, fixed):
        titles = {kb.resolve(title, ids=False) for title in gold.titles} - {None}
        candidates = [each.title for each in kb.candidates(gold.surface, limit=limit)]
        for kind in ("all", "names" if gold.kind == "name" else "nouns"):
            score = scores.setdefault(kind, Score())
            score.mentions += 1
            score.held += bool(titles)
            score.offered += not titles.isdisjoint(candidates)
            score.first += bool(candidates) and candidates[0] in titles
            score.candidates += len(candidates)
        if titles.isdisjoint(candidates):
            missed[gold.surface, gold.titles[0]] += 1
    for kind in ("all", "names", "nouns") if fixed is not None else ("all",):
        if kind in scores:
            sums[path.stem, kind] = scores[kind]
            show(f"{path.stem}{'' if kind == 'all' else f', {kind}'}", scores[kind].mentions, scores[kind].shares())
    return missed


def read_links(path: Path) -> Iterator[Gold]:
    for doc in jsonl.read(path):
        for link in doc.links:
            if link.title is not None:
                yield Gold(doc.text[link.span.start : link.span.end], (link.title,), "name")


def read_fixed(path: Path, fixed: dict[str, Any]) -> Iterator[Gold]:
    for _, line in files.lines(path):
        doc = json.loads(line)
        for start, end, title, kind, _, *others in fixed.get(doc["id"], ()):
            yield Gold(doc["text"][start:end], (title, *(others[0] if others else ())), kind)


def show(name: str, mentions: int, shares: tuple[float, ...]) -> None:
    held, offered, first, candidates = shares
    print(f"{name:34} {mentions:8,} {held:6.1f} {offered:9.1f} {first:6.1f} {candidates:11.1f}")


def show_mean(kind: str, scores: list[Score]) -> None:
    if scores:
        columns = zip(*(score.shares() for score in scores), strict=True)
        mentions = sum(score.mentions for score in scores)
        show(f"mean of {len(scores)}, {kind}", mentions, tuple(sum(column) / len(scores) for column in columns))


if __name__ == "__main__":
    main()
