"""Every command that links says where and how precisely, and so does the spaCy pipe."""

from __future__ import annotations

import pytest
import typer

from parlink.cli.main import app
from parlink.linking.linker import Linker
from parlink.load_options import LoadOptions
from parlink.struct_fields import described_fields

COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", ["annotate", "bench", "evaluate", "link", "serve", "tune"])
def test_a_command_that_links_has_every_option_of_loading(command: str) -> None:
    defaults = {parameter.name: parameter.default for parameter in COMMANDS[command].params}
    for field in described_fields(LoadOptions):
        assert defaults[field.name] == field.default


def test_the_defaults_are_those_of_the_library() -> None:
    assert Linker.load.__kwdefaults__ is not None
    for field in described_fields(LoadOptions):
        assert Linker.load.__kwdefaults__[field.name] == field.default
