"""What models cost: disk, start, memory, speed; printed as the table of a card, a column each.

    python benchmarks/footprint.py [MODEL ...] [--data DOCUMENTS.jsonl] [--threads N] [--runs N]

Without a model it measures the one that comes with parlink, and without data a text of its demo, many times over. A
folder made by `parlink export --format onnx` is measured with onnxruntime, any other with torch. Seconds are those of
the clock, and of the CPU in parentheses, which a busy machine changes less.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from parlink.checkpoint.config_file import packaged_model
from parlink.checkpoint.onnx_folder import has_graphs
from parlink.data import jsonl

TEXT = "The king of Jordan flew to Egypt on Monday, while in Chicago the Bulls celebrated Michael Jordan once more. "
CHILD = """
import json, sys, time
marks = [(time.perf_counter(), time.process_time())]

def mark():
    marks.append((time.perf_counter(), time.process_time()))
    return tuple(now - before for before, now in zip(marks[-2], marks[-1]))

__import__(sys.argv[2])
from parlink import Document, Linker
imported = mark()
linker = Linker.load(sys.argv[1])
opened = mark()
linker.link("Egypt beat Germany.")
first = mark()

def resident():
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmRSS"))

idle = resident()
documents = [Document(**doc) for doc in json.load(sys.stdin)]
tokens = sum(len(linker.tokenizer.encode(doc.text).ids) for doc in documents)
mark()
links = sum(len(doc.links) for doc in linker.stream(documents))
linked = mark()
assert ("torch" in sys.modules) == (sys.argv[2] == "torch")
print(json.dumps({
    "import": imported, "open": opened, "first": first, "memory": (idle, resident()),
    "speed": [tokens / seconds for seconds in linked], "links": [links / seconds for seconds in linked],
}))
"""


def main() -> None:
    options = _options()
    folders, documents = options.models or [packaged_model()], _texts(options.data)
    columns = [_column(folder, documents, options) for folder in folders]
    print(f"| {options.threads} threads, median of {options.runs} processes | {' | '.join(f.name for f in folders)} |")
    print("|---" * (1 + len(folders)) + "|")
    for row in columns[0]:
        print(f"| {row} | {' | '.join(column[row] for column in columns)} |")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    return parser.parse_args()


def _texts(data: Path | None) -> list[dict[str, str]]:
    if data is None:
        return [{"text": TEXT * 10} for _ in range(40)]
    return [{"text": doc.text} for doc in jsonl.read(data)]


def _column(folder: Path, documents: list[dict[str, str]], options: argparse.Namespace) -> dict[str, str]:
    runs = [_run(folder, documents, options.threads) for _ in range(options.runs)]
    middle = {key: tuple(statistics.median(run[key][part] for run in runs) for part in (0, 1)) for key in runs[0]}
    weights = _size(folder / "onnx") if has_graphs(folder) else _size(folder / "model.safetensors")
    parts = f"weights {weights:.1f}, tokenizer {_size(folder / 'tokenizer.json'):.1f}"
    start = tuple(sum(middle[key][part] for key in ("import", "open", "first")) for part in (0, 1))
    return {
        "computed by": "onnxruntime" if has_graphs(folder) else "torch",
        "on disk": f"{_size(folder):.1f} MB: {parts}, knowledge base {_size(folder / 'kb'):.1f}",
        "cold start: imports": _seconds(middle["import"]),
        "then `Linker.load()`": _seconds(middle["open"]),
        "then a first short text": _seconds(middle["first"]),
        "all of that": _seconds(start),
        "resident memory, idle / after the data": "{:.0f} / {:.0f} MB".format(*middle["memory"]),
        "tokens a second": "{:,.0f} ({:,.0f})".format(*middle["speed"]),
        "mentions a second": "{:,.0f} ({:,.0f})".format(*middle["links"]),
    }


def _seconds(clock_and_cpu: tuple[float, ...]) -> str:
    return "{:.2f} s ({:.2f})".format(*clock_and_cpu)


def _run(folder: Path, documents: list[dict[str, str]], threads: int) -> dict[str, list[float]]:
    runtime = "onnxruntime" if has_graphs(folder) else "torch"
    command = [sys.executable, "-c", CHILD, str(folder), runtime]
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        command, input=json.dumps(documents), stdout=subprocess.PIPE, text=True, check=True, env=environment
    )
    result: dict[str, list[float]] = json.loads(done.stdout)
    return result


def _size(path: Path) -> float:
    """Megabytes; trees of titles, which are made where they are needed, left out."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files if file.parent.name != "trees") / 1e6


if __name__ == "__main__":
    main()
