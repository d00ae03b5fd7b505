"""Changes to a knowledge base: seconds for n adds, with and without a look-up by another opener after each.

    python benchmarks/kb_changes.py [--adds 2000]

Each figure is for n, 2n and 4n adds to a KB of 1,000 titles, every add a transaction of its own; four times the
adds should take four times as long.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from parlink.kb import KnowledgeBase
from parlink.kb.build.build import build
from parlink.types import Entity


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adds", type=int, default=2000)
    adds = parser.parse_args().adds
    for kind, reader in (("adds", False), ("adds, each read by another", True)):
        for count in (adds, 2 * adds, 4 * adds):
            print(f"{count:6,} {kind}: {measure(count, reader=reader):.2f} s")


def measure(adds: int, *, reader: bool) -> float:
    with TemporaryDirectory() as folder:
        lines = Path(folder) / "kb.jsonl"
        lines.write_text("".join(json.dumps({"title": f"Town {number}"}) + "\n" for number in range(1000)))
        build([lines], Path(folder) / "kb")
        kb, other = (KnowledgeBase.open(Path(folder) / "kb") for _ in range(2))
        start = time.perf_counter()
        for number in range(adds):
            kb.add(Entity(f"New Town {number}", id=f"n{number}"), aliases=[f"NT {number}"])
            if reader:
                assert other.candidates(f"NT {number}")
        return time.perf_counter() - start


if __name__ == "__main__":
    main()
