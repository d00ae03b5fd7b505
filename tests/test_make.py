"""`make test` is all that CI runs, and says at its end what it could not test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_without_a_browser_the_last_line_says_so(tmp_path: Path) -> None:
    environment = os.environ | {"PATH": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/pages/test_in_chromium.py"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "skipped" in done.stdout
    last = done.stdout.strip().splitlines()[-1]
    assert last.startswith("NOT TESTED: ") and "chromedriver" in last


def test_make_test_runs_what_ci_runs() -> None:
    assert (ROOT / ".ci" / "run").read_text().strip().endswith("make check docs")
    assert "\ncheck: test\n" in (ROOT / "Makefile").read_text()
    recipe = (ROOT / "Makefile").read_text().partition("\ntest:")[2].partition("\n\n")[0]
    assert all(step in recipe for step in ("ruff format --check", "ruff check", "mypy", "lint-imports", "pytest"))
    assert "browser" in recipe.splitlines()[0]


def test_a_wheel_needs_nothing_but_a_python(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    done = subprocess.run(["make", "--dry-run", "wheel"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "-m venv .venv" in done.stdout and "pip wheel" in done.stdout
    assert "pip install" not in done.stdout
