"""The `parlink` command: mounts the verbs, and turns our errors into one red line."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from typing import Annotated, NoReturn

import typer

from parlink.cli import annotate, bench, data, evaluate, export, info, kb, link, serve, train, tune
from parlink.errors import ParlinkError

app = typer.Typer(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # boxes around the help cost a third of its time
)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"parlink {version('parlink')}")
        raise typer.Exit


@app.callback()
def parlink(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Link text to Wikipedia or to your own knowledge base."""
    if context.invoked_subcommand != "train":
        # More threads gain little, and wait for each other where a core is busy: throughput comes from processes.
        # To be said before torch, onnxruntime, numpy or tokenizers is loaded.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


app.command()(link.link)
app.command()(annotate.annotate)
app.command()(train.train)
app.command()(evaluate.evaluate)
app.command()(tune.tune)
app.command()(info.info)
app.command()(serve.serve)
app.command()(export.export)
app.command()(bench.bench)
app.add_typer(kb.app, name="kb")
app.add_typer(data.app, name="data")


def run() -> None:
    """Run the command line."""
    try:
        try:
            app(prog_name="parlink")  # by `python -m`, too: completion is asked for by this name
        finally:
            sys.stdout.flush()  # here, where an error can be told
    except ParlinkError as error:
        _fail(str(error))
    except RecursionError:
        _fail("an input is nested too deeply; flatten it")
    except UnicodeEncodeError as error:
        _fail(f"an argument is not UTF-8 ({error.object!r}); give it in UTF-8")
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone: leave quietly
        sys.exit(141)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _fail(f"an output cannot be written ({error.strerror}); make room, or choose another place")


def _fail(message: str) -> NoReturn:
    """Print one red line and leave; what standard output could not take must not be tried again at the exit."""
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True, soft_wrap=True).print(Text(f"error: {message}", style="bold red"))
    with suppress(OSError):
        sys.stdout.flush()
        sys.exit(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)
