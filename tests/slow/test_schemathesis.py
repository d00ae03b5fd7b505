"""The service keeps to its own description in thousands of cases that schemathesis makes up."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from parlink.linking.linker import Linker
from tiny_kb import tiny_kb
from tiny_model import tiny_checkpoint
from tiny_server import running

SERVE = Path(__file__).parents[1] / "serve"
CASES = 6_000
pytestmark = pytest.mark.slow


def test_schemathesis_finds_nothing_in_six_thousand_cases(tmp_path: Path) -> None:
    kb = tiny_kb(tmp_path)
    linker = Linker(tiny_checkpoint(seed=3, spread=2.0), kb=kb, source=kb)
    with running(linker, allow_edits=True, text_characters=60, max_spans=20, waiting=2) as address:
        command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(SERVE / "schemathesis.toml")]
        command += [
            "run",
            f"{address}openapi.json",
            "--max-examples",
            "700",
            "--seed",
            "1",
            "--no-color",
            "--request-timeout",
            "60",
        ]
        environment = os.environ | {"SCHEMATHESIS_HOOKS": "turtle_bodies", "PYTHONPATH": str(SERVE)}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, (done.stdout + done.stderr)[-5000:]
    cases = re.search(r"([\d,]+) generated", done.stdout)
    assert cases is not None
    print(done.stdout[-400:])
    assert int(cases[1].replace(",", "")) >= CASES
