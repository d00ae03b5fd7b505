"""docs/scale.md names options and files that exist; the Dockerfile and what deploys it say the same as the commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import yaml
from typer.testing import CliRunner

from parlink.cli.main import app

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "scale.md").read_text()
DEPLOY = ROOT / "examples" / "deploy"


def options_of(*verb: str) -> str:
    return CliRunner().invoke(app, [*verb, "--help"], env={"COLUMNS": "200", "TERM": "dumb"}).output


def test_every_option_and_every_file_exists() -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    commands = [line[line.index("parlink ") :] for block in blocks for line in block.splitlines() if "parlink " in line]
    assert len(commands) == 8
    for command in commands:
        words = shlex.split(command.partition("|")[0])[1:]
        verb = words[:2] if words[0] in ("data", "kb") else words[:1]
        assert all(word in options_of(*verb) for word in words if word.startswith("-") and word != "-"), command
    for path in re.findall(r"(?:examples|tests|benchmarks)/[\w/.]+", PAGE):
        assert (ROOT / path).exists(), path


def test_what_deploys_it_asks_for_routes_and_options_that_exist() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert (DEPLOY / compose["services"]["parlink"]["build"] / "Dockerfile").exists()
    deployment, _, job = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    words = job["spec"]["template"]["spec"]["containers"][0]["args"][0].split()
    assert all(word in options_of("annotate") for word in words if word.startswith("-"))
