"""The page of commands on the site, from what `-h` prints: a hook of mkdocs that mkdocs.yml names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

from parlink.cli.main import app

PAGE = "commands.md"
MARK = "<!-- here the commands are written -->"


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Write the help of each command into its page."""
    return markdown.replace(MARK, "\n".join(_describe(get_command(app)))) if page.file.src_uri == PAGE else markdown


def _describe(command: Any, words: Sequence[str] = ()) -> Iterator[str]:
    """Give a heading and the help of a command; of a group, those of its commands."""
    for name, verb in getattr(command, "commands", {}).items():
        yield from _describe(verb, [*words, name])
    if not hasattr(command, "commands"):
        yield f"## parlink {' '.join(words)}\n\n```text\n{_help(words)}```\n"


def _help(words: Sequence[str]) -> str:
    done = CliRunner().invoke(app, [*words, "-h"], prog_name="parlink", env={"COLUMNS": "96", "TERM": "dumb"})
    assert done.exit_code == 0, (words, done.output)
    return done.output
