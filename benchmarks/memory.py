"""Memory of a process that links ever new lengths: resident megabytes after each part of the texts.

    python benchmarks/memory.py [MODEL] [--texts 20000] [--parts 10]

Each text has a length and words of its own, so that hardly two batches have the same shapes. After the first part,
in which caches fill, the memory should stay where it is: the last line tells by how much it grew since.
ONEDNN_PRIMITIVE_CACHE_CAPACITY=1024 shows what a process does that keeps oneDNN's own bound.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

from parlink import Linker

WORDS = "Kent Leicester Jordan Egypt Chicago Bulls Hamburg Elbe the king of flew to on Monday while and met in again"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--parts", type=int, default=10)
    options = parser.parse_args()
    linker, part = Linker.load(options.model), max(1, options.texts // options.parts)
    print(f"{0:>7,} texts {resident():7.0f} MB", flush=True)
    sizes = []
    for number, text in enumerate(texts(options.texts), start=1):
        linker.link(text)
        if number % part == 0:
            sizes.append(resident())
            print(f"{number:>7,} texts {sizes[-1]:7.0f} MB", flush=True)
    print(f"grown by {100 * (max(sizes) / sizes[0] - 1):.1f} % since the first {part:,} texts")


def texts(count: int) -> Iterator[str]:
    """Texts of 1 to 60 words, the same in every run."""
    rng, words = random.Random(0), WORDS.split()
    for number in range(count):
        yield f"{' '.join(rng.choices(words, k=rng.randint(1, 60)))} {number}."


def resident() -> float:
    """Megabytes of memory that this process holds now."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines["VmRSS"].split()[0]) / 1024


if __name__ == "__main__":
    main()
