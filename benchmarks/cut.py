"""Write the beginnings of long documents: what a run of training reads of each when it has no time for all.

    python benchmarks/cut.py DOCUMENTS -o OUT --characters N

Cut at a line's end if there is one in the second half, else between words. Documents with less than two links there are
left out.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=Path, help="JSON lines, as parlink data wikipedia writes them")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--characters", type=int, required=True, help="of each document, at most")
    wanted = parser.parse_args()
    documents = links = 0
    with wanted.documents.open() as lines, wanted.output.open("w") as out:
        for line in lines:
            doc = cut(json.loads(line), wanted.characters)
            if len(doc.get("links", ())) > 1:
                documents, links = documents + 1, links + len(doc["links"])
                out.write(json.dumps(doc, ensure_ascii=False) + "\n")
    print(f"{wanted.output}: {documents:,} documents, {links:,} links")


def cut(doc: dict[str, Any], characters: int) -> dict[str, Any]:
    """Keep the beginning of a document, and the links and mentions that lie in it."""
    text = doc["text"]
    if len(text) <= characters:
        return doc
    end = max(text.rfind("\n", characters // 2, characters), 0) or max(text.rfind(" ", 0, characters), 0) or characters
    lists = {key: [each for each in doc[key] if each["end"] <= end] for key in ("links", "unlinked") if key in doc}
    return doc | {"text": text[:end]} | lists


if __name__ == "__main__":
    main()
