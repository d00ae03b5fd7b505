"""The `parlink` command: mounts the verbs, and turns our errors into one red line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from parlink.cli import annotate, data, evaluate, export, info, kb, link, serve, train, tune
from parlink.errors import ParlinkError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # boxes around the help cost a third of its time
)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"parlink {version('parlink')}")
        raise typer.Exit


@app.callback()
def parlink(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Link text to Wikipedia or to your own knowledge base."""


app.command()(link.link)
app.command()(annotate.annotate)
app.command()(train.train)
app.command()(evaluate.evaluate)
app.command()(tune.tune)
app.command()(info.info)
app.command()(serve.serve)
app.command()(export.export)
app.add_typer(kb.app, name="kb")
app.add_typer(data.app, name="data")


def run() -> None:
    """Run the command line."""
    try:
        app()
    except ParlinkError as error:
        from rich.console import Console
        from rich.text import Text

        Console(stderr=True, soft_wrap=True).print(Text(f"error: {error}", style="bold red"))
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone: leave quietly
        sys.exit(141)
