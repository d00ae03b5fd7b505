"""The README is run as it stands."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

import parlink
from executed_page import run_page
from parlink.cli.main import app

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text()
BLOCKS = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_every_command_and_every_example_runs_and_prints_what_is_said(tmp_path: Path) -> None:
    outputs = run_page(ROOT / "README.md", tmp_path)
    assert len(outputs) >= 12
    for output in outputs:
        assert output.is_true or not output.said, f"said:\n{output.said}\nprinted:\n{output.printed}"


def test_the_examples_are_right_about_types(tmp_path: Path) -> None:
    """As `py.typed` promises, by the settings and the cache of `make check`."""
    assert (ROOT / "src" / "parlink" / "py.typed").exists()
    code = "\n".join(code for language, code in BLOCKS.findall(TEXT) if language == "python")
    (tmp_path / "readme.py").write_text(code)
    wrong = 'import parlink\nparlink.link("Paris").surfaces\n'
    (tmp_path / "wrong.py").write_text(wrong)
    done = [
        subprocess.run([sys.executable, "-m", "mypy", tmp_path / name], cwd=ROOT, capture_output=True, text=True)
        for name in ("readme.py", "wrong.py")
    ]
    assert done[0].returncode == 0, done[0].stdout
    assert done[1].returncode == 1 and 'has no attribute "surfaces"' in done[1].stdout


def test_figures_stand_beside_the_command_that_printed_them() -> None:
    before = {table: TEXT[: TEXT.index(table)] for table in ("| text | F1", "| one thread of a CPU")}
    assert all("python benchmarks/" in text.rpartition("```sh")[2] for text in before.values())
    assert (ROOT / "docs" / "images" / "page.png").stat().st_size < 300_000


def test_commands_for_data_of_ones_own_have_only_options_that_exist() -> None:
    both = TEXT + (ROOT / "benchmarks" / "README.md").read_text()
    blocks = [code for language, code in BLOCKS.findall(both) if language == "sh"]
    lines = [line for code in blocks for line in code.replace("\\\n", " ").splitlines()]
    commands = [line for line in lines if line.startswith("parlink ")]
    assert len(commands) > 12
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
