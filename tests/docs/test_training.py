"""docs/training.md is run as it stands."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from parlink.cli.main import app
from parlink.train_config import Dataset, Stage, TrainConfig

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "training.md").read_text()
FILES = re.compile(r"^`([\w.]+)`, [^\n]*\n\n```\w+\n(.*?)```", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^\$ parlink (.*)$", re.MULTILINE)


def test_the_example_runs_and_learns_its_own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = dict(FILES.findall(TEXT))
    assert files.keys() == {"entities.jsonl", "notes.jsonl", "train.toml", "finetune.toml"}
    monkeypatch.chdir(tmp_path)
    for name, content in files.items():
        Path(name).write_text(content)
    output = []
    for command in COMMANDS.findall(TEXT):
        arguments = shlex.split(command) + (["--json"] if command.startswith(("evaluate", "link")) else [])
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, (command, done.output, done.exception)
        output.append(done.stdout)
    assert len(output) == 6
    for scores in (output[2], output[5]):  # from nothing, and from the model that ships
        assert json.loads(scores)["linking"]["inkb"]["micro"]["f1"] > 0.9
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
