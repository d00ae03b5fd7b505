"""docs/training.md and the demo are run as they stand."""

from __future__ import annotations

import json
import re
import runpy
import shlex
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from parlink.cli.main import app
from parlink.config import Dataset, Stage, TrainConfig

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "training.md").read_text()
FILES = re.compile(r"^`([\w.]+)`, [^\n]*\n\n```\w+\n(.*?)```", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^\$ parlink (.*)$", re.MULTILINE)


def test_the_example_runs_and_learns_its_own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = dict(FILES.findall(TEXT))
    assert files.keys() == {"entities.jsonl", "notes.jsonl", "train.toml"}
    monkeypatch.chdir(tmp_path)
    for name, content in files.items():
        Path(name).write_text(content)
    output = []
    for command in COMMANDS.findall(TEXT):
        arguments = shlex.split(command) + (["--json"] if command.startswith(("evaluate", "link")) else [])
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, (command, done.output, done.exception)
        output.append(done.stdout)
    assert len(output) == 4
    scores = json.loads(output[2])
    assert scores["linking"]["inkb"]["micro"]["f1"] > 0.9
    linked = json.loads(output[3])
    assert {link["title"] for link in linked["links"]} <= {
        "Heron valve",
        "Heron pump",
        "Falcon drill",
        "Falcon saw",
        None,
    }
    assert linked["links"]


@pytest.mark.parametrize("kind", [TrainConfig, Stage, Dataset])
def test_every_key_is_explained(kind: type[msgspec.Struct]) -> None:
    missing = [name for name in kind.__struct_fields__ if f"`{name}`" not in TEXT and f"[[{name}]]" not in TEXT]
    assert not missing


def test_the_demo_says_what_it_does_and_links_what_is_new(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "demo.py"), run_name="__main__")
    shown = capsys.readouterr()
    assert "No trained model comes with parlink yet" in shown.err
    assert re.search(r"Hamburg +Hamburger SV", shown.out)
    assert re.search(r"Jordan +Jordan River", shown.out)


def test_no_sentence_of_the_demo_is_one_it_was_trained_on() -> None:
    known = (ROOT / "examples" / "data" / "sentences.jsonl").read_text()
    sentences = re.findall(r'(?<!"")"([A-Z][^"]+\.)"(?!"")', (ROOT / "examples" / "demo.py").read_text())
    assert len(sentences) == 3
    assert not any(sentence in known for sentence in sentences)
