"""Documents a second of one process, two, Ray with two and Spark with two, and the memory of each of their workers.

    python benchmarks/scale.py WORK_FOLDER PAGES.jsonl [--model MODEL] [--kb KB] [--texts 20000] [--only ray]

The texts are the first short paragraphs of the pages, such as `parlink data wikipedia` makes of a dump. Each way links
some of them and then all; the rates are those of the difference, so that starting is not counted. Processor time is
that of all processes of a way, and says what it costs even where others use the machine; `load` is the mean number of
processes that could run, on the whole machine. Memory is the largest proportional share (PSS) that any of its Python
processes had: pages that processes share are divided among them. The overhead is the time, and the processor time, more
than that of plain processes (`processes-2`).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

FEW = 400  # more than a chunk for each of two workers, so that both have opened the model
CHARACTERS = range(100, 181)  # of a short paragraph
WAYS = ("processes-1", "processes-2", "ray", "spark")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("pages", type=Path, help="JSON lines with `text`, a paragraph a line of it")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--kb", type=Path)
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--few", type=int, default=FEW)
    parser.add_argument("--only", default=",".join(WAYS), help="some of " + ", ".join(WAYS))
    parser.add_argument("--spark", type=Path, help=argparse.SUPPRESS)  # output; in a process of its own
    options = parser.parse_args()
    if options.spark:
        link_on_spark(options)
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    few, many = (write_texts(count, options) for count in (options.few, options.texts))
    print("| way | documents/s | tokens/s | CPU ms a document | overhead | of CPU | peak MB a worker | load |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    plain = None
    for way in options.only.split(","):
        cost = measure(way, many, options) - measure(way, few, options)
        plain = cost if way == "processes-2" else plain
        print(f"| {way} | {' | '.join(describe(cost, plain))} |", flush=True)


@dataclass(frozen=True)
class Texts:
    """A file of texts."""

    path: Path
    documents: int
    tokens: int


@dataclass(frozen=True)
class Cost:
    """What it took to link some texts."""

    documents: int
    tokens: int
    seconds: float
    processor: float  # seconds, of all processes
    megabytes: float  # of the largest worker
    load: float

    def __sub__(self, few: Cost) -> Cost:
        """What the rest of the texts took; memory and load are those of all."""
        return Cost(
            self.documents - few.documents,
            self.tokens - few.tokens,
            self.seconds - few.seconds,
            self.processor - few.processor,
            self.megabytes,
            self.load,
        )


def describe(cost: Cost, plain: Cost | None) -> Iterator[str]:
    """The cells of a row."""
    yield f"{cost.documents / cost.seconds:.1f}"
    yield f"{cost.tokens / cost.seconds:.0f}"
    yield f"{1000 * cost.processor / cost.documents:.1f}"
    yield f"{100 * (cost.seconds / plain.seconds - 1):+.1f} %" if plain else ""
    yield f"{100 * (cost.processor / plain.processor - 1):+.1f} %" if plain else ""
    yield f"{cost.megabytes:.0f}"
    yield f"{cost.load:.1f}"


def measure(way: str, texts: Texts, options: argparse.Namespace) -> Cost:
    """Link some texts, and watch the processes."""
    output = options.folder / f"{way}-{texts.documents}-{time.time_ns()}.jsonl"
    begin, most = time.monotonic(), 0.0
    processor: dict[int, float] = {}
    loads = []
    with (options.folder / f"{way}.log").open("w") as log:
        process = subprocess.Popen(command(way, texts.path, output, options), stdout=log, stderr=log)
        while process.poll() is None:
            below = processes_below(process.pid)
            processor |= {number: processor_time(number) or processor.get(number, 0.0) for number in below}
            most = max([most, *(proportional_share(number) for number in below if _is_python(number))])
            loads.append(int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0]) - 1)  # without this one
            time.sleep(1)
    if process.returncode:
        raise SystemExit(f"{way} failed:\n{(options.folder / f'{way}.log').read_text()[-2000:]}")
    seconds = time.monotonic() - begin
    return Cost(texts.documents, texts.tokens, seconds, sum(processor.values()), most, sum(loads) / len(loads))


def command(way: str, source: Path, output: Path, options: argparse.Namespace) -> list[str]:
    """The command line of a way to link."""
    model = [] if options.model is None else ["--model", str(options.model)]
    model += [] if options.kb is None else ["--kb", str(options.kb)]
    if way == "spark":
        return [sys.executable, __file__, str(options.folder), str(source), "--spark", str(output), *model]
    engine = ["--engine", "ray", "--workers", "2"] if way == "ray" else ["--workers", way.rpartition("-")[2]]
    return [sys.executable, "-m", "parlink", "annotate", str(source), "-o", str(output), *engine, *model]


def link_on_spark(options: argparse.Namespace) -> None:
    """Link on a local Spark of two workers."""
    from pyspark.sql import SparkSession

    from parlink.integrations.spark import link_column

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else its workers are the first python3 of the path
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", 256).getOrCreate()
    frame = session.read.json(str(options.pages)).repartition(8)
    link_column(frame, "text", model=options.model, kb=options.kb).write.parquet(str(options.spark))
    session.stop()


def write_texts(count: int, options: argparse.Namespace) -> Texts:
    """Write the first short paragraphs, and count their tokens."""
    from parlink.checkpoint.config_file import packaged_model
    from parlink.text.tokenizer import Tokenizer

    tokenizer = Tokenizer.load((options.model or packaged_model()) / "tokenizer.json")
    texts = list(islice(paragraphs(options.pages), count))
    if len(texts) < count:
        raise SystemExit(f"{options.pages} has {len(texts)} short paragraphs, wanted {count}")
    path = options.folder / f"texts-{count}.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return Texts(path, count, sum(len(tokenizer.encode(text).ids) for text in texts))


def paragraphs(pages: Path) -> Iterator[str]:
    """The paragraphs of some lines, in their order."""
    with pages.open() as file:
        for line in file:
            yield from (text for text in json.loads(line)["text"].split("\n") if len(text) in CHARACTERS)


def processes_below(process: int) -> list[int]:
    """A process and those below it."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    below, waiting = [], [process]
    while waiting:
        below.append(waiting.pop())
        waiting += children.get(below[-1], [])
    return below


def processor_time(process: int) -> float:
    """Seconds that a process has computed."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _is_python(process: int) -> bool:
    try:
        return "python" in Path(f"/proc/{process}/exe").resolve().name
    except OSError:
        return False


def proportional_share(process: int) -> float:
    """Megabytes of a process, shared pages divided among those who share them."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


if __name__ == "__main__":
    main()
