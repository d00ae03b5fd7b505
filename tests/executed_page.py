"""Pages of documentation that are run as they stand: `python tests/executed_page.py PAGE...` writes what they print.

Of a page, blocks of Python share one namespace, and a block of `text` right after one is what it prints. In a block of
`console`, a line with `$ parlink` is run, and the lines up to the next are what it prints. A block after a line that
begins with the name of a file in backticks and a comma is that file. Blocks of `sh` are for data of the reader's own,
and are not run.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from typer.testing import CliRunner

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^`([\w.-]+)`, [^\n]*\n\n\Z", re.MULTILINE)
COMMAND = re.compile(r"^\$ parlink (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
VARYING = re.compile(r"\d+\.\d+|[━─]+|\d+ ms|\d+ %")  # figures of the machine and of the model, and bars
WIDTH = "100"


@dataclass(frozen=True, slots=True)
class Output:
    """Where a page says what something prints, what it says, and what was printed."""

    start: int
    end: int
    said: str
    printed: str

    @property
    def is_true(self) -> bool:
        """Whether both are the same but for figures and white space."""
        return _mask(self.said) == _mask(self.printed)


def run_page(path: Path, folder: Path) -> list[Output]:
    """Run a page in a folder; what it says of outputs comes back beside what was printed."""
    text = path.read_text()
    namespace: dict[str, Any] = {"__name__": "__main__"}
    outputs: list[Output] = []
    for name in ("examples", "configs"):
        shutil.copytree(ROOT / name, folder / name)
    with chdir(folder):
        for block in BLOCK.finditer(text):
            outputs += _run_block(block, text, namespace)
    return outputs


def _run_block(block: re.Match[str], text: str, namespace: dict[str, Any]) -> Iterator[Output]:
    language, content = block.groups()
    named = FILE.search(text, max(0, block.start() - 200), block.start())
    if named is not None:
        Path(named[1]).write_text(content)
    elif language == "python":
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(content, "<page>", "exec"), namespace)
        said = re.compile(r"\s*^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL).match(text, block.end())
        if said is not None:
            yield Output(*said.span(1), said[1], printed.getvalue())
    elif language == "console":
        for command in COMMAND.finditer(text, *block.span(2)):
            yield Output(*command.span(2), command[2], run_command(command[1]))


def run_command(command: str) -> str:
    """Run `parlink` in this process, and return what it prints on standard output."""
    from parlink.cli.main import app

    done = CliRunner().invoke(app, shlex.split(command), env={"COLUMNS": WIDTH, "TERM": "dumb"})
    assert done.exit_code == 0, (command, done.output, done.exception)
    return done.stdout


def _mask(output: str) -> str:
    return " ".join(VARYING.sub("#", output).split())


def write_outputs(path: Path) -> None:
    """Put into a page what its commands print; a command of which nothing is said stays so."""
    with TemporaryDirectory() as folder:
        outputs = run_page(path, Path(folder))
    text = path.read_text()
    for output in sorted(outputs, key=lambda output: output.start, reverse=True):
        if output.said:
            lines = "".join(f"{line.rstrip()}\n" for line in output.printed.strip("\n").splitlines())
            text = text[: output.start] + lines + text[output.end :]
    path.write_text(text)


if __name__ == "__main__":
    os.environ["COLUMNS"] = WIDTH
    for name in sys.argv[1:]:
        write_outputs(Path(name).resolve())
