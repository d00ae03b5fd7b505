"""What the one process takes that `parlink annotate` reads and writes in, with linking replaced by a ready answer.

    python benchmarks/one_writer.py WORK_FOLDER [--documents 100000,400000] [--bytes 1500]

It says how many workers that process can keep busy, and what grows with the corpus: its memory, and what it takes to
go on after a kill, when all that was done is read again and compared. The run is broken off at its last chunk.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

TEXT = "Hamburg beat Kent again on Monday, and Leicester flew on to Egypt, where the king of Jordan met them. " * 2
TITLES = 100_000  # that the answers name
LINKS = 3  # of a document


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", default="100000,400000")
    parser.add_argument("--bytes", type=int, default=1500, help="of a linked document")
    parser.add_argument("--run", type=int, help=argparse.SUPPRESS)  # chunks until it breaks; in a process of its own
    options = parser.parse_args()
    if options.run is not None:
        annotate_without_linking(options)
        return
    print("| documents | documents/s | peak MB | going on, s | peak MB |\n|---|---|---|---|---|")
    for documents in map(int, options.documents.split(",")):
        shutil.rmtree(options.folder, ignore_errors=True)
        options.folder.mkdir(parents=True)
        write_input(options.folder / "in.jsonl", documents)
        chunks = documents * len(TEXT) // 32_000
        (first, peak), (again, peak_again) = (run(options, breaks) for breaks in (chunks - 1, documents))
        cells = (f"{documents:,}", f"{documents / first:,.0f}", f"{peak:.0f}", f"{again:.1f}", f"{peak_again:.0f}")
        print(f"| {' | '.join(cells)} |", flush=True)


def write_input(path: Path, documents: int) -> None:
    with path.open("w") as file:
        file.writelines(json.dumps({"id": str(number), "text": TEXT}) + "\n" for number in range(documents))


def run(options: argparse.Namespace, breaks: int) -> tuple[float, float]:
    """Processor seconds and megabytes of a run in a process of its own."""
    command = [sys.executable, __file__, str(options.folder), "--bytes", str(options.bytes), "--run", str(breaks)]
    return tuple(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))  # type: ignore[return-value]


def annotate_without_linking(options: argparse.Namespace) -> None:
    """Annotate with an engine that does not link, and print what that took."""
    from parlink.corpus.annotate import annotate
    from parlink.corpus.chunks import Chunk
    from parlink.corpus.inputs import find_inputs
    from parlink.corpus.job import Job, LinkedChunk
    from parlink.corpus.output import choose_output
    from parlink.corpus.tally import Tally

    line = json.dumps({"text": TEXT, "links": "x" * (options.bytes - len(TEXT) - 26)}).encode() + b"\n"

    def answer(number: int, chunk: Chunk) -> LinkedChunk:
        count = len(chunk.entries)
        names = (f"A title of usual length {(number * 7919 + place) % TITLES}" for place in range(LINKS * count))
        tally = Tally(documents=count, tokens=40 * count, links=LINKS * count, titles=Counter(names))
        return LinkedChunk(line * count, b"", tally, chunk.checksum, chunk.closes, frozenset())

    def engine(function: Callable[[Chunk], LinkedChunk], chunks: Iterable[Chunk], /) -> Iterator[LinkedChunk]:
        for number, chunk in enumerate(chunks):
            if number == options.run:
                raise KeyboardInterrupt
            yield answer(number, chunk)

    began = time.process_time()
    inputs, output = find_inputs([options.folder / "in.jsonl"]), choose_output(str(options.folder / "out.jsonl"))
    with suppress(KeyboardInterrupt):
        annotate(inputs, output, job=Job(), engine=engine)  # type: ignore[arg-type]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([time.process_time() - began, peak]))


if __name__ == "__main__":
    main()
