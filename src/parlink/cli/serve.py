"""`parlink serve`: the HTTP service and its web page."""

from __future__ import annotations

import typer

from parlink.cli.options import KbFolder, Model
from parlink.cli.struct_options import add_options
from parlink.config import LinkOptions
from parlink.load_options import LoadOptions
from parlink.serve.settings import Settings


@add_options(Settings, LinkOptions, LoadOptions)
def serve(
    settings: Settings,
    options: LinkOptions,
    load: LoadOptions,
    model: Model = None,
    kb: KbFolder = None,
) -> None:
    """Serve linking over HTTP, with a page at /. On this machine only, unless there is a key.

    The options of linking are those of `parlink link`; they hold where a request does not say otherwise.
    """
    from parlink.serve.start import start

    start(settings, options=options, model=model, kb=kb, load=load, announce=_announce)


def _announce(address: str) -> None:
    typer.echo(f"parlink is at {address} (Ctrl-C stops it)", err=True)
