"""The benchmark of a knowledge base of one's own: right end to end, and right where the span is given.

    python benchmarks/own_kb.py [MODEL] [--without-descriptions] [--json]

It builds the knowledge base of `examples/own_kb/entities.csv` and links `sentences.jsonl` to it, without training on
either. A gold mention is right end to end if exactly its span is linked to its entity; other links are counted apart.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from parlink import Document, KnowledgeBase, Link, Linker
from parlink.data import jsonl
from parlink.kb.build.build import build

FOLDER = Path(__file__).parents[1] / "examples" / "own_kb"


def main() -> None:
    wanted = _options()
    gold = list(jsonl.read(FOLDER / "sentences.jsonl"))
    with TemporaryDirectory() as folder:
        source = Path(folder, "entities.jsonl")
        source.write_text("\n".join(map(json.dumps, list_entities(descriptions=not wanted.without_descriptions))))
        build([source], Path(folder, "kb"))
        figures = measure(Linker.load(wanted.model, kb=KnowledgeBase.open(Path(folder, "kb"))), gold)
    if wanted.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:44} {value}")


def measure(linker: Linker, gold: Sequence[Document]) -> dict[str, object]:
    """Count what is right end to end and with spans given."""
    bare = [replace(doc, links=()) for doc in gold]
    spans = [replace(doc, links=(), spans=tuple(link.span for link in _linked(doc))) for doc in gold]
    free = [_titles(doc) for doc in linker.stream(bare)]
    given = [_titles(doc) for doc in linker.stream(spans)]
    mentions = [(number, link) for number, doc in enumerate(gold) for link in _linked(doc)]
    ambiguous = [(number, link) for number, link in mentions if link.extra["ambiguous"]]
    made = sum(len(titles) for titles in free)
    right = _right(mentions, free)
    nil = [(number, link) for number, doc in enumerate(gold) for link in doc.links if link.title is None]
    return {
        "gold mentions": len(mentions),
        "right end to end, %": _percent(right, len(mentions)),
        "links made": made,
        "precision, %": _percent(right, made),
        "spans found, %": _percent(sum(link.span in free[number] for number, link in mentions), len(mentions)),
        "right with span given, %": _percent(_right(mentions, given), len(mentions)),
        "ambiguous mentions": len(ambiguous),
        "ambiguous, right with span given, %": _percent(_right(ambiguous, given), len(ambiguous)),
        "unlinked mentions that got a link": f"{sum(link.span in free[number] for number, link in nil)} of {len(nil)}",
    }


def _right(mentions: Sequence[tuple[int, Link]], titles: Sequence[dict[object, str]]) -> int:
    return sum(titles[number].get(link.span) == link.title for number, link in mentions)


def _titles(doc: Document) -> dict[object, str]:
    return {link.span: link.title for link in doc.links if link.title is not None}


def _linked(doc: Document) -> list[Link]:
    return [link for link in doc.links if link.title is not None]


def _percent(part: int, whole: int) -> float:
    return round(100 * part / max(whole, 1), 1)


def list_entities(*, descriptions: bool) -> list[dict[str, object]]:
    """The entities of the example, as lines of a knowledge base."""
    with (FOLDER / "entities.csv").open(encoding="utf-8", newline="") as file:
        return [
            {"title": row["name"], "aliases": list(filter(None, row["aliases"].split("|"))), "id": row["id"]}
            | ({"description": row["description"]} if descriptions else {})
            for row in csv.DictReader(file)
        ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", type=Path, help="model folder; default: the model that comes with parlink")
    parser.add_argument("--without-descriptions", action="store_true")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
