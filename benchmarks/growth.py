"""How the cost of linking grows with what there is of each thing, with the slope of each curve.

    python benchmarks/growth.py [--model MODEL] [--only tokens,beams] [--most 8192] [--titles 1000,100000] [--svg DIR]

Each curve doubles one thing and keeps the others: tokens of a text, mentions of a document, candidates of a mention,
beams of a search, titles of the knowledge base, threads that link at once (each one text), and copies of a document in
a batch. Costs are seconds of processor time, so that others may use the machine, and MB what the process has more after
a point than before it. A slope is that of the logarithms over the upper half of the curve: 1 is linear, 0
does not grow. `start` prints the processor time of starting Python, of importing parlink, of --help and of loading.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from parlink.config import LinkOptions
from parlink.evaluation.report.plots import Series, line_plot
from parlink.kb import KnowledgeBase
from parlink.kb.build.build import BuildOptions, build
from parlink.linking.linker import Linker
from parlink.types import Candidate, Document, Span

WORDS = "Kent Leicester Jordan Egypt Chicago Bulls Hamburg Elbe the king of flew to on Monday while and met in again"
CURVES = ("start", "tokens", "mentions", "candidates", "beams", "titles", "threads", "documents")
TEXT_WORDS = 200
Run = Callable[[], object]


@dataclass(frozen=True)
class Point:
    """What so many of a thing cost."""

    size: int
    seconds: float  # of the processor
    megabytes: float  # above what there was before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--only", default=",".join(CURVES), help="some of " + ", ".join(CURVES))
    parser.add_argument("--most", type=int, default=8192, help="tokens of the longest text (%(default)s)")
    parser.add_argument("--titles", default="1000,10000,100000", help="sizes of knowledge bases, built anew")
    parser.add_argument("--repeat", type=int, default=3, help="times that each point is measured; the least counts")
    parser.add_argument("--svg", type=Path, help="folder for a picture of each curve")
    options = parser.parse_args()
    curves = options.only.split(",")
    if "start" in curves:
        print_start(options.model)
    linker = Linker.load(options.model)
    measured = {
        "tokens": lambda: link_texts(linker, doubled(64, options.most)),
        "mentions": lambda: link_spans(linker, doubled(4, 128)),
        "candidates": lambda: link_candidates(linker, [1, 2, 5, 10, 20, 50, 100, 200]),
        "beams": lambda: search(linker, [1, 2, 5, 10, 20]),
        "titles": lambda: link_to_titles(options.model, [int(size) for size in options.titles.split(",")]),
        "threads": lambda: link_in_threads(linker, doubled(1, 64)),
        "documents": lambda: link_batches(linker, doubled(1, 64)),
    }
    print("| grows | from | to | slope of CPU time | CPU s, first to last | MB, first to last |\n" + "|---" * 6 + "|")
    for name in curves:
        if name in measured:
            show(name, [measure(size, run, options.repeat) for size, run in measured[name]()], options.svg)


def doubled(first: int, last: int) -> list[int]:
    """Powers of two between two numbers."""
    return [first << step for step in range((last // first).bit_length())]


def text(words: int) -> str:
    """So many words, the same in every run."""
    return " ".join(random.Random(0).choices(WORDS.split(), k=words)) + "."


def link_texts(linker: Linker, sizes: Sequence[int]) -> Iterator[tuple[int, Run]]:
    for size in sizes:
        tokens = linker.tokenizer.encode(text(size))
        cut = text(size)[: int(tokens.end[min(size, len(tokens.end)) - 1])]
        yield size, lambda cut=cut: linker.link(cut)  # type: ignore[misc]


def link_spans(linker: Linker, sizes: Sequence[int]) -> Iterator[tuple[int, Run]]:
    whole = text(TEXT_WORDS)
    starts = [0, *(place + 1 for place, letter in enumerate(whole) if letter == " ")]
    spans = [Span(start, start + len(whole[start:].split()[0].rstrip("."))) for start in starts]
    for size in sizes:
        doc = Document(whole, spans=tuple(spans[:size]))
        yield size, lambda doc=doc: linker.link(doc)  # type: ignore[misc]


@dataclass(frozen=True)
class _AnyNames:
    """Offers the same titles for whatever is asked."""

    titles: tuple[str, ...]

    def candidates(self, surface: str, *, limit: int) -> Sequence[Candidate]:
        """Return as many as are wanted."""
        return [Candidate(title, prior=1 / len(self.titles)) for title in self.titles[:limit]]


def link_candidates(linker: Linker, sizes: Sequence[int]) -> Iterator[tuple[int, Run]]:
    rng, doc = random.Random(1), Document(text(TEXT_WORDS), spans=(Span(0, 4), Span(5, 9), Span(10, 16), Span(17, 22)))
    titles = tuple(dict.fromkeys(" ".join(rng.choices(WORDS.split(), k=4)) for _ in range(300)))
    offered = linker.with_candidates(_AnyNames(titles))
    for size in sizes:
        options = LinkOptions(max_candidates=size)
        yield size, lambda options=options: offered.link(doc, options=options)  # type: ignore[misc]


def search(linker: Linker, sizes: Sequence[int]) -> Iterator[tuple[int, Run]]:
    titles = [f"{a} {b} {c}" for a in WORDS.split() for b in WORDS.split() for c in "ABC"]
    doc = Document(text(TEXT_WORDS), spans=(Span(0, 4), Span(5, 9), Span(10, 16)))
    alone = linker.with_candidates(None)
    for size in sizes:
        options = LinkOptions(fallback=True, beams=size, titles=tuple(titles))
        yield size, lambda options=options: alone.link(doc, options=options)  # type: ignore[misc]


def link_to_titles(model: Path | None, sizes: Sequence[int]) -> Iterator[tuple[int, Run]]:
    whole = text(TEXT_WORDS)
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            lines = Path(folder) / f"{size}.jsonl"
            names = [*WORDS.split(), *(f"{WORDS.split()[n % 8]} {n}" for n in range(size))][:size]
            lines.write_text("".join(json.dumps({"title": name, "count": 1}) + "\n" for name in dict.fromkeys(names)))
            build([lines], Path(folder) / f"kb-{size}", options=BuildOptions())
            kb = KnowledgeBase.open(Path(folder) / f"kb-{size}")
            sized = Linker.load(model, kb=kb)
            yield size, lambda sized=sized: sized.link(whole)  # type: ignore[misc]


def link_in_threads(linker: Linker, sizes: Sequence[int]) -> Iterator[tuple[int, Run]]:
    for size in sizes:
        with ThreadPoolExecutor(size) as pool:
            yield size, lambda size=size, pool=pool: list(pool.map(linker.link, [text(40)] * size))  # type: ignore[misc]


def link_batches(linker: Linker, sizes: Sequence[int]) -> Iterator[tuple[int, Run]]:
    for size in sizes:
        yield size, lambda size=size: linker.link([text(40)] * size)  # type: ignore[misc]


def measure(size: int, run: Callable[[], object], repeat: int) -> Point:
    """Run once to warm up, then as often as wanted; the least counts."""
    before = _resident()
    run()
    seconds = []
    for _ in range(repeat):
        begin = time.process_time()
        run()
        seconds.append(time.process_time() - begin)
    return Point(size, min(seconds), max(_resident() - before, 0.0))


def show(name: str, points: Sequence[Point], svg: Path | None) -> None:
    first, last = points[0], points[-1]
    memory = f"{first.megabytes:.0f} to {last.megabytes:.0f}"
    cells = (name, first.size, last.size, f"{slope(points):.2f}", f"{first.seconds:.3f} to {last.seconds:.3f}", memory)
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    if svg is not None:
        svg.mkdir(parents=True, exist_ok=True)
        line = Series(name, tuple((float(p.size), p.seconds) for p in points))
        picture = line_plot([line], title=f"Linking by {name}", x_label=name, y_label="seconds of CPU")
        (svg / f"{name}.svg").write_text(picture)


def slope(points: Sequence[Point]) -> float:
    """The slope of the logarithms, over the upper half of a curve."""
    upper = points[len(points) // 2 :] if len(points) > 3 else points
    x, y = [math.log(p.size) for p in upper], [math.log(max(p.seconds, 1e-6)) for p in upper]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    below = sum((a - mean_x) ** 2 for a in x)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / below if below else math.nan


def print_start(model: Path | None) -> None:
    """Print the processor time of starting, each above that of what it needs."""
    load = f"from parlink import Linker; Linker.load({'' if model is None else repr(str(model))})"
    python, imported = _start("-c", "pass"), _start("-c", "import parlink")
    torch, loaded = _start("-c", "import torch"), _start("-c", f"import torch; {load}")
    figures = {
        "python": python,
        "import parlink": imported - python,
        "parlink --help": _start("-m", "parlink", "--help"),
    }
    for name, seconds in (figures | {"Linker.load() after torch": loaded - torch}).items():
        print(f"{name}: {seconds:.3f} s of CPU")


def _start(*arguments: str, repeat: int = 3) -> float:
    """The least processor time of a Python process."""
    seconds = []
    for _ in range(repeat):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(seconds)


def _resident() -> float:
    """MB that the process has now."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


if __name__ == "__main__":
    main()
