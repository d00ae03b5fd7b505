"""Write the development sets with their gold titles fixed: as documents that `parlink evaluate` and `tune` read.

    python benchmarks/development_sets.py BENCHMARKS -o FOLDER

Sets that name Wikidata labels are scored by the titles of gold_titles.json, whatever knowledge base is compared. Each
link says in `what` whether it is a name, a common noun or a pronoun.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

GOLD = Path(__file__).with_name("gold_titles.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmarks", type=Path, help="folder with the sets, such as elevant-news-fair.jsonl")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--gold", type=Path, default=GOLD)
    wanted = parser.parse_args()
    wanted.output.mkdir(parents=True, exist_ok=True)
    for name, golds in json.loads(wanted.gold.read_text())["sets"].items():
        source = wanted.benchmarks / f"{name}.jsonl"
        if source.is_file():
            lines = [write_document(json.loads(line), golds) for line in source.read_text().splitlines()]
            (wanted.output / source.name).write_text("".join(f"{line}\n" for line in lines))
            print(f"{name}: {len(lines)} documents")


def write_document(raw: dict[str, Any], golds: dict[str, list[Any]]) -> str:
    """Return a document as a line; mentions without a gold title are NIL."""
    titles = {(start, end): (title, what) for start, end, title, what, *_ in golds.get(raw["id"], [])}
    links = []
    for mention in raw["mentions"]:
        span = (mention["start"], mention["end"])
        title, what = titles.get(span, (None, None))
        links.append({"start": span[0], "end": span[1], "title": title} | ({"what": what} if what else {}))
    return json.dumps({"id": raw["id"], "text": raw["text"], "links": links}, ensure_ascii=False)


if __name__ == "__main__":
    main()
