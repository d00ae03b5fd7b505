"""`parlink annotate` is killed at random moments, any of its processes, and goes on to the bytes of an unbroken run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from own_processes import descendants
from parlink.data import jsonl
from parlink.types import Document
from tiny_corpus import tiny_job

KILLS = 50
DOCUMENTS = 6000
OUTPUTS = {"linked.jsonl": [], "linked.jsonl.gz": ["--part-documents", "1700"], "linked.parquet": []}


def command(folder: Path, output: Path) -> list[str]:
    model = ["--model", str(folder / "model"), "--kb", str(folder / "kb"), "--mention-threshold", "-5"]
    more = [*OUTPUTS[output.name], "--workers", "2"]
    return [sys.executable, "-m", "parlink", "annotate", str(folder / "in.jsonl"), "-o", str(output), *model, *more]


def records(output: Path) -> int:
    path = output.with_name(f".{output.name}.run") / "done.jsonl"
    try:
        return path.read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def run_and_kill(folder: Path, output: Path, rng: random.Random) -> bool:
    """Run until some chunks are done, and kill; return whether there was still something to kill."""
    wanted = records(output) + rng.randint(0, 3)
    moment = time.monotonic() + rng.uniform(0, 4)
    process = subprocess.Popen(command(folder, output), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and (records(output) < wanted or time.monotonic() < moment):
        time.sleep(0.01)
    victims = [process.pid, *descendants("spawn_main")]
    victim = rng.choice(victims)
    try:
        os.kill(victim, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return process.wait(timeout=600) != 0


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


@pytest.mark.slow
def test_no_kill_loses_or_doubles_a_document(tmp_path: Path) -> None:
    rng = random.Random(18)
    tiny_job(tmp_path)
    docs = (Document(f"Hamburg beat Kent {n} to {n % 7}, and Zürich saw it.", id=str(n)) for n in range(DOCUMENTS))
    jsonl.write(tmp_path / "in.jsonl", docs)
    with (tmp_path / "in.jsonl").open("ab") as file:
        file.write(b"{broken\n")
    for name in OUTPUTS:
        subprocess.run(command(tmp_path, tmp_path / "whole" / name), check=True, capture_output=True)
    kills = rounds = 0
    while kills < KILLS:
        folder = tmp_path / f"round-{rounds}"
        output = folder / list(OUTPUTS)[rounds % len(OUTPUTS)]
        folder.mkdir()
        for _ in range(rng.randint(1, 8)):
            kills += run_and_kill(tmp_path, output, rng)
        subprocess.run(command(tmp_path, output), check=True, capture_output=True)
        stem = output.name.partition(".")[0]
        found, wanted = contents(folder), contents(tmp_path / "whole")
        suffix = output.name.removeprefix(stem)
        names = {path for path in wanted if path.endswith(suffix) or path == "linked.errors.jsonl"}
        assert found.keys() == names
        assert all(found[path] == wanted[path] for path in names), rounds
        rounds += 1
    print(f"{kills} kills in {rounds} rounds")
