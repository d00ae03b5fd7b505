"""Every example runs as it stands, and fits on a screen."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from parlink.checkpoint import packaged_model, save_checkpoint
from parlink.errors import CheckpointError
from tiny_kb import tiny_folder
from tiny_model import tiny_checkpoint

FOLDER = Path(__file__).parent.parent / "examples"
SHORT = sorted(path for path in FOLDER.glob("*.py") if path.name != "demo.py")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """What to give the examples: nothing if a model comes with the package, else a tiny one."""
    try:
        packaged_model()
    except CheckpointError:
        folder = tmp_path_factory.mktemp("examples") / "model"
        save_checkpoint(folder, tiny_checkpoint(seed=4, spread=2.0), card="tiny")
        tiny_folder(folder)
        return (str(folder),)
    return ()


def run(path: Path, *arguments: str) -> str:
    command = [sys.executable, "-W", "error", path, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


def test_all_are_there_and_short() -> None:
    names = {path.stem for path in SHORT}
    assert names == {"add_entity", "call_service", "dataframe", "link_text", "own_kb"}
    for path in SHORT:
        text = path.read_text()
        assert len(text.splitlines()) <= 40, path.name
        assert f"examples/{path.name}" in (ast.get_docstring(ast.parse(text)) or ""), path.name


def test_link_text(model: tuple[str, ...]) -> None:
    found, which = run(FOLDER / "link_text.py", *model).split("\nWhich London? ")
    assert found
    assert model or ("Ada Lovelace" in found and "  London " in which)


def test_own_kb(model: tuple[str, ...]) -> None:
    falcon, kestrel = run(FOLDER / "own_kb.py", *model).splitlines()
    assert falcon.startswith("Falcon: Falcon (")
    assert "not: Falcon (" in falcon
    assert kestrel == "Kestrel: Kestrel (forklift) [M-3]  not: -"


def test_add_entity(model: tuple[str, ...]) -> None:
    lines = run(FOLDER / "add_entity.py", *model).splitlines()
    known = [set(ast.literal_eval(line.partition("out of ")[2])) for line in lines]
    bird = "Skylark (bird)"
    assert known == [{bird}, {bird, "Skylark (train)"}, {bird, "Skylark Express"}, {bird}]


def test_dataframe(model: tuple[str, ...]) -> None:
    printed = run(FOLDER / "dataframe.py", *model)
    head, *rows = printed.splitlines()
    assert head.split() == ["stars", "surface", "title", "score"]
    assert {row.split()[0] for row in rows[1:]} == {"101", "102", "103"}
    assert model or "Vienna" in printed


def test_call_service(model: tuple[str, ...]) -> None:
    printed = run(FOLDER / "call_service.py", *model)
    assert printed.startswith("a: The night train")
    assert "\nb: They met in Paris.\n   Paris -> " in printed
    assert model or "Vienna -> Vienna" in printed
