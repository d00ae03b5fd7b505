"""How often a knowledge base offers the right title for a gold mention, and ranks it first.

    python benchmarks/kb_recall.py KB_FOLDER DATA.jsonl

Compares all look-up steps united, which `KnowledgeBase.candidates` does, with stopping at the first step that hits.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from parlink.data import jsonl
from parlink.kb import KnowledgeBase
from parlink.kb.surfaces import STEPS
from parlink.types import Candidate

EVERY = 1 << 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kb", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--limit", type=int, default=30)
    parser.add_argument("--misses", type=int, default=0, help="show the most frequent misses")
    options = parser.parse_args()
    kb = KnowledgeBase.open(options.kb)
    gold = [
        (doc.text[link.span.start : link.span.end], link.title)
        for doc in jsonl.read(options.data)
        for link in doc.links
        if link.title is not None
    ]
    found = [list(kb.candidates(surface, limit=EVERY)) for surface, _ in gold]
    titles = [kb.resolve(title) or title for _, title in gold]
    print(f"{kb.name}: {len(kb):,} titles, {kb.info.names:,} names; {len(gold):,} linked mentions")
    report("all steps united", found, titles, options.limit)
    report("first step that hits", [first_hit(candidates) for candidates in found], titles, options.limit)
    missing = sum(title not in kb for title in titles)
    print(f"gold title not in the knowledge base: {missing / len(gold):.2%}")
    pairs = zip((surface for surface, _ in gold), titles, found, strict=True)
    missed = Counter((surface, title) for surface, title, c in pairs if title not in {x.title for x in c})
    for (surface, title), count in missed.most_common(options.misses):
        print(f"{count:4} {surface} -> {title}{'' if title in kb else ' (not in KB)'}")


def first_hit(candidates: Sequence[Candidate]) -> list[Candidate]:
    best = min((STEPS.index(c.match_type) for c in candidates if c.match_type), default=0)
    return [c for c in candidates if c.match_type == STEPS[best]]


def report(what: str, found: Sequence[Sequence[Candidate]], titles: Sequence[str], limit: int) -> None:
    pairs = list(zip(found, titles, strict=True))
    recall = sum(title in {c.title for c in candidates[:limit]} for candidates, title in pairs)
    whole = sum(title in {c.title for c in candidates} for candidates, title in pairs)
    first = sum(bool(candidates) and candidates[0].title == title for candidates, title in pairs)
    mean = sum(min(limit, len(candidates)) for candidates in found) / len(pairs)
    print(
        f"{what}: recall {recall / len(pairs):.2%} among {limit}, {whole / len(pairs):.2%} among all; "
        f"first {first / len(pairs):.2%}; {mean:.1f} candidates a mention"
    )


if __name__ == "__main__":
    main()
