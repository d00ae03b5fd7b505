"""docs/scoring.md is run as it stands, and names every kind, condition and format there is."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from parlink.cli.main import app
from parlink.config import Tuned
from parlink.data.formats import READERS
from parlink.evaluation.conditions import Condition
from parlink.evaluation.errors import ErrorKind

TEXT = (Path(__file__).parents[2] / "docs" / "scoring.md").read_text()
FILES = re.compile(r"^`([\w.]+)`, [^\n]*\n\n```json\n(.*?)```", re.MULTILINE | re.DOTALL)
COMMANDS = [shlex.split(line) for line in re.findall(r"^\$ parlink (.*)$", TEXT, re.MULTILINE)]


def test_the_commands_on_its_own_files_run_and_score_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.findall(TEXT):
        Path(name).write_text(content)
    shown = []
    for command in COMMANDS:
        if "--model" not in command:
            done = CliRunner().invoke(app, command)
            assert done.exit_code == 0, (command, done.output, done.exception)
            shown.append(done.stdout)
    micro = json.loads(shown[1])["linking"]["inkb"]["micro"]
    said = re.search(r"precision (\S+), recall (\S+),\s+F1 (\S+)\. ", TEXT)
    assert said is not None
    assert [round(100 * value, 2) for value in micro.values()] == [float(value) for value in said.groups()]


@pytest.mark.parametrize("command", [command for command in COMMANDS if "--model" in command], ids=" ".join)
def test_options_of_the_other_commands_exist(command: list[str]) -> None:
    known = CliRunner().invoke(app, [command[0], "--help"]).stdout
    assert all(word in known for word in command if word.startswith("-"))


def test_everything_has_a_word() -> None:
    names = {f"`{name}`" for name in (*READERS, *Condition)} | {kind.name_in_group for kind in ErrorKind}
    names |= {f"`{name}`" for name in Tuned.__struct_fields__ if name != "fallback"}  # which tune does not choose
    assert {name for name in names if name not in TEXT} == set()
