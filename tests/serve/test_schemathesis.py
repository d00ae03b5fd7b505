"""The service keeps to its own OpenAPI description, whatever schemathesis sends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from parlink.linking.linker import Linker
from tiny_kb import tiny_kb
from tiny_model import tiny_checkpoint
from tiny_server import running

HERE = Path(__file__).parent


def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    kb = tiny_kb(tmp_path)
    linker = Linker(tiny_checkpoint(seed=3, spread=2.0), kb=kb, source=kb)
    with running(linker, allow_edits=True, text_characters=60, max_spans=20, waiting=2) as address:
        options = ("--max-examples", "10", "--generation-deterministic", "--no-color")
        command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(HERE / "schemathesis.toml")]
        command += ["run", f"{address}openapi.json", *options]
        environment = os.environ | {"SCHEMATHESIS_HOOKS": "turtle_bodies", "PYTHONPATH": str(HERE)}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "12 selected / 12 total" in done.stdout
