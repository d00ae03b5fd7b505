"""The README is run as it stands."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import parlink
from parlink.cli.main import app

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text()
RUN = re.compile(r"^\$ parlink (.*)$", re.MULTILINE)
BLOCKS = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("examples", "configs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_command_and_the_python_example_run(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commands = RUN.findall(TEXT)
    assert len(commands) == 11
    for command in commands:
        done = CliRunner().invoke(app, shlex.split(command))
        assert done.exit_code == 0, (command, done.output, done.exception)
    examples = [code for language, code in BLOCKS.findall(TEXT) if language == "python"]
    for example in examples:
        exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in printed[:2]] == [["Jordan", "Jordan"], ["Egypt", "Egypt"]]
    assert printed[3:5] == ["They crossed the Jordan.", "Nobody is named here."]
    assert printed[5].startswith("Jordan ")
    assert len(examples) == 2


def test_commands_for_data_of_ones_own_have_only_options_that_exist() -> None:
    both = TEXT + (ROOT / "benchmarks" / "README.md").read_text()
    blocks = [code for language, code in BLOCKS.findall(both) if language == "sh"]
    lines = [line for code in blocks for line in code.replace("\\\n", " ").splitlines()]
    commands = [line for line in lines if line.startswith("parlink ")]
    assert len(commands) == 16
    for command in commands:
        words = shlex.split(command, comments=True)[1:]
        verb = [word for word in words[:2] if re.fullmatch("[a-z]+", word)]
        shown = CliRunner().invoke(app, [*verb, "--help"], env={"COLUMNS": "200", "TERM": "dumb"})
        assert shown.exit_code == 0, command
        for option in (word for word in words if word.startswith("-")):
            assert option in shown.output, (command, option)


def test_every_verb_is_mentioned() -> None:
    documented = TEXT + "".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))
    names = [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]
    missing = [name for name in names if f"parlink {name}" not in documented]
    assert not missing


def test_public_names_are_sorted_and_there() -> None:
    assert parlink.__all__ == sorted(parlink.__all__, key=lambda name: name)
    assert all(getattr(parlink, name) is not None for name in parlink.__all__)
