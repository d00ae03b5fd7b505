"""docs/serving.md is run as it stands, with curl against a real server."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from inspect import signature
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from parlink.cli.main import app
from parlink.cli.serve import serve
from parlink.data.formats import nif
from parlink.linking.linker import Linker
from parlink.serve.queries import LinkQuery
from parlink.serve.settings import Settings
from tiny_kb import tiny_kb
from tiny_model import tiny_checkpoint
from tiny_server import running

TEXT = (Path(__file__).parents[2] / "docs" / "serving.md").read_text()
FOREIGN = {"--data-urlencode", "--data-binary", "--read-only", "--tmpfs", "--cap-drop", "--workers", "--format"}
LOCAL = "http://127.0.0.1:8000/"
BLOCKS = [block for block in re.findall(r"^```sh\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL) if LOCAL in block]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    kb = tiny_kb(tmp_path_factory.mktemp("docs"))
    with running(Linker(tiny_checkpoint(seed=3, spread=2.0), kb=kb, source=kb), allow_edits=True) as found:
        yield found


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_every_call_answers_what_the_page_says(address: str) -> None:
    one, given, options, edits, turtle, rel = (_run(block.replace(LOCAL, address)) for block in BLOCKS)
    assert json.loads(one)["text"] == "Kent beat Hamburg."
    assert [link["start"] for link in json.loads(given)[0]["links"]] == [0]
    assert "error" not in json.loads(options)
    assert edits.count('"title":"Kent (ship)"') == 2
    assert nif.decode(turtle.encode())[0].id == "http://example.org/7"
    assert [row[:3] for row in json.loads(rel)] in ([], [[0, 4, "Kent"]])


def _run(block: str) -> str:
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_options_exist_and_defaults_are_told() -> None:
    shown = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200", "TERM": "dumb"}).stdout
    for option in set(re.findall(r"--[a-z][a-z-]+", TEXT)) - FOREIGN:
        assert option in shown, option
    defaults = {f"--{name.replace('_', '-')}": option.default for name, option in signature(serve).parameters.items()}
    told = re.findall(r"\| `(--[a-z-]+)` \| ([\d,]+) \|", TEXT)
    assert len(told) == 16
    for option, default in told:
        assert float(default.replace(",", "")) == defaults[option], option


def test_the_limits_have_the_names_bounds_and_defaults_of_the_settings() -> None:
    parameters = signature(serve).parameters
    for field in msgspec.structs.fields(Settings):
        assert parameters[field.name].default == field.default
        assert field.name == "api_key" or f"--{field.name.replace('_', '-')}" in TEXT, field.name


def test_every_parameter_and_metric_is_named(address: str) -> None:
    assert all(f"`{name}`" in TEXT for name in LinkQuery.model_fields)
    shown = _run(f"curl -sS {address}metrics") if shutil.which("curl") else ""
    for name in re.findall(r"`(parlink_\w+|process_\w+)", TEXT):
        assert name in shown or not shown, name
