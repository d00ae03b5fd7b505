"""Documents a second of one process, two, Ray with two and Spark with two, and the memory of each of their workers.

    python benchmarks/scale.py WORK_FOLDER [--model MODEL] [--kb KB] [--texts 20000] [--only processes-2,ray]

Each way links a few texts and then all of them; the rates are those of the difference, so that starting is not counted.
Processor time is that of all processes of a way, and says what it costs even where others use the machine. Memory is
the largest proportional share (PSS) that any of its Python processes had: pages that processes share are divided
among them. The overhead is the processor time a document more than that of plain processes (`processes-2`).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

FEW = 64
WORDS = "Kent Leicester Jordan Egypt Chicago Bulls Hamburg Elbe the king of flew to on Monday while and met in again"
WAYS = ("processes-1", "processes-2", "ray", "spark")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--kb", type=Path)
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--only", default=",".join(WAYS), help="some of " + ", ".join(WAYS))
    parser.add_argument("--spark", nargs=2, help=argparse.SUPPRESS)  # input and output, in a process of its own
    options = parser.parse_args()
    if options.spark:
        link_on_spark(*options.spark, options)
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    print(
        "| way | documents/s | tokens/s | CPU ms a document | overhead | peak MB a worker |\n|---|---|---|---|---|---|"
    )
    plain = None
    for way in options.only.split(","):
        few, many = (measure(way, count, options) for count in (FEW, options.texts))
        documents, seconds, processor = options.texts - FEW, many.seconds - few.seconds, many.processor - few.processor
        tokens = count_tokens(options.texts, options) - count_tokens(FEW, options)
        plain = processor if way == "processes-2" else plain
        overhead = f"{100 * (processor / plain - 1):+.1f} %" if plain else ""
        rates = (f"{documents / seconds:.1f}", f"{tokens / seconds:.0f}", f"{1000 * processor / documents:.1f}")
        cells = (*rates, overhead, f"{many.megabytes:.0f}")
        print(f"| {way} | " + " | ".join(cells) + " |", flush=True)


@dataclass(frozen=True)
class Cost:
    """What it took to link some texts."""

    seconds: float
    processor: float  # seconds, of all processes
    megabytes: float  # of the largest worker


def measure(way: str, count: int, options: argparse.Namespace) -> Cost:
    """Link some texts, and watch the processes."""
    source = options.folder / f"texts-{count}.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts(count)))
    output = options.folder / f"{way}-{count}-{time.time_ns()}.jsonl"
    begin, most = time.monotonic(), 0.0
    processor: dict[int, float] = {}
    with (options.folder / f"{way}.log").open("w") as log:
        process = subprocess.Popen(command(way, source, output, options), stdout=log, stderr=log)
        while process.poll() is None:
            below = processes_below(process.pid)
            processor |= {number: processor_time(number) or processor.get(number, 0.0) for number in below}
            most = max([most, *(proportional_share(number) for number in below if _is_python(number))])
            time.sleep(0.2)
    if process.returncode:
        raise SystemExit(f"{way} failed:\n{(options.folder / f'{way}.log').read_text()[-2000:]}")
    return Cost(time.monotonic() - begin, sum(processor.values()), most)


def command(way: str, source: Path, output: Path, options: argparse.Namespace) -> list[str]:
    """The command line of a way to link."""
    model = [] if options.model is None else ["--model", str(options.model)]
    model += [] if options.kb is None else ["--kb", str(options.kb)]
    if way == "spark":
        return [sys.executable, __file__, str(options.folder), "--spark", str(source), str(output), *model]
    engine = ["--engine", "ray", "--workers", "2"] if way == "ray" else ["--workers", way.rpartition("-")[2]]
    return [sys.executable, "-m", "parlink", "annotate", str(source), "-o", str(output), *engine, *model]


def link_on_spark(source: str, output: str, options: argparse.Namespace) -> None:
    """Link on a local Spark of two workers."""
    from pyspark.sql import SparkSession

    from parlink.integrations.spark import link_column

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", 256).getOrCreate()
    frame = session.read.json(source).repartition(8)
    link_column(frame, "text", model=options.model, kb=options.kb).write.parquet(output)
    session.stop()


def texts(count: int) -> list[str]:
    """Paragraphs of 20 to 80 words, the same in every run."""
    rng, words = random.Random(0), WORDS.split()
    return [f"{' '.join(rng.choices(words, k=rng.randint(20, 80)))} {number}." for number in range(count)]


def count_tokens(count: int, options: argparse.Namespace) -> int:
    """The tokens of the texts."""
    from parlink.checkpoint.config_file import packaged_model
    from parlink.text.tokenizer import Tokenizer

    tokenizer = Tokenizer.load((options.model or packaged_model()) / "tokenizer.json")
    return sum(len(tokenizer.encode(text).ids) for text in texts(count))


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
