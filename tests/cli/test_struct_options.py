from __future__ import annotations

from typing import Annotated

import msgspec
import pytest
import typer
from typer.testing import CliRunner

from parlink.cli.struct_options import add_options


class Tea(msgspec.Struct, frozen=True, kw_only=True):
    minutes: Annotated[int, msgspec.Meta(ge=1, le=9, description="How long to steep.")] = 3
    with_milk: Annotated[bool, msgspec.Meta(description="Add milk.")] = False
    sort: Annotated[str, msgspec.Meta(extra={"env": "TEA"})] | None = None


made: list[tuple[Tea, int]] = []
app = typer.Typer()


@app.command()
@add_options(Tea)
def brew(tea: Tea, cups: int = 1) -> None:
    """Brew tea."""
    made.append((tea, cups))


@pytest.mark.parametrize(
    ("arguments", "tea", "cups"),
    [
        ([], Tea(), 1),
        (["--minutes", "5", "--with-milk", "--cups", "2"], Tea(minutes=5, with_milk=True), 2),
        (["--sort", "Assam"], Tea(sort="Assam"), 1),
    ],
)
def test_every_field_is_an_option(arguments: list[str], tea: Tea, cups: int) -> None:
    assert CliRunner().invoke(app, arguments, env={"TEA": None}).exit_code == 0
    assert made.pop() == (tea, cups)


class Cup(msgspec.Struct, frozen=True, kw_only=True):
    size: Annotated[int, msgspec.Meta(description="Of the cup.")] = 2


pairs: list[tuple[Tea, Cup, int]] = []
two = typer.Typer()


@two.command()
@add_options(Tea, Cup)
def pour(tea: Tea, cup: Cup, cups: int = 1) -> None:
    """Pour tea."""
    pairs.append((tea, cup, cups))


def test_a_command_may_have_the_options_of_several() -> None:
    assert CliRunner().invoke(two, ["--minutes", "5", "--size", "3", "--cups", "2"], env={"TEA": None}).exit_code == 0
    assert pairs.pop() == (Tea(minutes=5), Cup(size=3), 2)


def test_variables_bounds_and_help_are_those_of_the_fields() -> None:
    assert CliRunner().invoke(app, [], env={"TEA": "Darjeeling"}).exit_code == 0
    assert made.pop() == (Tea(sort="Darjeeling"), 1)
    assert CliRunner().invoke(app, ["--minutes", "10"]).exit_code == 2
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200", "TERM": "dumb"}).output
    assert "How long to steep." in shown
    assert "Brew tea." in shown
