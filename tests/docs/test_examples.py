"""Every example runs as it stands, and fits on a screen."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "examples"
SHORT = sorted(path for path in FOLDER.glob("*.py") if path.name != "demo.py")


def run(path: Path) -> str:
    command = [sys.executable, "-W", "error", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


def test_all_are_there_and_short() -> None:
    names = {path.stem for path in SHORT}
    assert names == {"add_entity", "call_service", "dataframe", "link_text", "own_kb", "ray_serve"}
    for path in SHORT:
        text = path.read_text()
        assert len(text.splitlines()) <= 40, path.name
        assert f"examples/{path.name}" in (ast.get_docstring(ast.parse(text)) or ""), path.name


def test_link_text() -> None:
    found, which = run(FOLDER / "link_text.py").split("\nWhich London? ")
    assert "Ada Lovelace" in found
    assert "  London " in which


def test_own_kb() -> None:
    falcon, kestrel = run(FOLDER / "own_kb.py").splitlines()
    assert falcon.startswith("Falcon: Falcon (")
    assert "not: Falcon (" in falcon
    assert kestrel == "Kestrel: Kestrel (forklift) [M-3]  not: -"


def test_add_entity() -> None:
    lines = run(FOLDER / "add_entity.py").splitlines()
    known = [set(ast.literal_eval(line.partition("out of ")[2])) for line in lines]
    bird = "Skylark (bird)"
    assert known == [{bird}, {bird, "Skylark (train)"}, {bird, "Skylark Express"}, {bird}]


def test_dataframe() -> None:
    printed = run(FOLDER / "dataframe.py")
    head, *rows = printed.splitlines()
    assert head.split() == ["stars", "surface", "title", "confidence"]
    assert {row.split()[0] for row in rows[1:]} == {"101", "102", "103"}
    assert "Vienna" in printed


def test_call_service() -> None:
    printed = run(FOLDER / "call_service.py")
    assert printed.startswith("a: The night train")
    assert "\nb: They met in Paris.\n   Paris -> " in printed
    assert "Vienna -> Vienna" in printed
