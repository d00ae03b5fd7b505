"""What a model costs: disk, start, memory, speed; printed as the table of its card.

    python benchmarks/footprint.py [MODEL] [--data DOCUMENTS.jsonl] [--threads N]

Without a model it measures the one that comes with parlink, and without data a text of its demo, many times over.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from parlink.checkpoint.config_file import packaged_model
from parlink.data import jsonl

TEXT = "The king of Jordan flew to Egypt on Monday, while in Chicago the Bulls celebrated Michael Jordan once more. "
CHILD = """
import json, sys, time
start = time.perf_counter()
import torch
from parlink import Document, Linker
torch.set_num_threads(int(sys.argv[2]))
imported = time.perf_counter()
linker = Linker.load(sys.argv[1])
opened = time.perf_counter()
linker.link("Egypt beat Germany.")
first = time.perf_counter()

def resident():
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmRSS"))

idle, tokens, seconds, links = resident(), 0, 0.0, 0
documents = [Document(**doc) for doc in json.load(sys.stdin)]
tokens = sum(len(linker.tokenizer.encode(doc.text).ids) for doc in documents)
begin = time.perf_counter()
links = sum(len(doc.links) for doc in linker.stream(documents))
seconds = time.perf_counter() - begin
print(json.dumps({
    "import": imported - start, "open": opened - imported, "first": first - opened,
    "idle": idle, "busy": resident(), "speed": tokens / seconds, "links": links / seconds,
}))
"""


def main() -> None:
    options = _options()
    folder = options.model or packaged_model()
    documents = _texts(options.data)
    runs = [_run(folder, documents, options.threads) for _ in range(options.runs)]
    middle = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
    disk = {name: _size(folder / name) for name in ("model.safetensors", "tokenizer.json", "kb")}
    print(f"| {folder.name}, {options.threads} threads, median of {options.runs} processes | |\n|---|---|")
    print(f"| on disk | {_size(folder):.1f} MB: weights {disk['model.safetensors']:.1f}, ", end="")
    print(f"tokenizer {disk['tokenizer.json']:.1f}, knowledge base {disk['kb']:.1f} |")
    print(
        f"| cold start: Python with torch, then `Linker.load()` | {middle['import']:.2f} s + {middle['open']:.2f} s |"
    )
    print(f"| first short text after that | {1000 * middle['first']:.0f} ms |")
    print(f"| resident memory, idle / after the data | {middle['idle']:.0f} / {middle['busy']:.0f} MB |")
    print(f"| speed | {middle['speed']:,.0f} tokens, {middle['links']:,.0f} mentions a second |")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    return parser.parse_args()


def _texts(data: Path | None) -> list[dict[str, str]]:
    if data is None:
        return [{"text": TEXT * 10} for _ in range(40)]
    return [{"text": doc.text} for doc in jsonl.read(data)]


def _run(folder: Path, documents: list[dict[str, str]], threads: int) -> dict[str, float]:
    command = [sys.executable, "-c", CHILD, str(folder), str(threads)]
    done = subprocess.run(command, input=json.dumps(documents), capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def _size(path: Path) -> float:
    """Megabytes; trees of titles, which are made where they are needed, left out."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files if file.parent.name != "trees") / 1e6


if __name__ == "__main__":
    main()
