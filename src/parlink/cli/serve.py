"""`parlink serve`: the HTTP service and its web page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    model: Annotated[
        Path | None, typer.Option(help="Model folder; default: the model that comes with parlink.")
    ] = None,
    kb: Annotated[Path | None, typer.Option(help="Knowledge base folder; default: the model's own.")] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0: any free one.")] = 8000,
    api_key: Annotated[
        str | None, typer.Option(envvar="PARLINK_API_KEY", help="Key that clients must give; best in the variable.")
    ] = None,
    insecure: Annotated[bool, typer.Option("--insecure", help="Allow a public address without a key.")] = False,
    allow_edits: Annotated[bool, typer.Option("--allow-edits", help="Let clients change the knowledge base.")] = False,
    batch: Annotated[int, typer.Option(min=1, help="Documents linked together; 1: no batching.")] = 32,
    wait: Annotated[float, typer.Option(min=0, help="Longest wait for company, in seconds.")] = 0.003,
    waiting: Annotated[int, typer.Option(min=1, help="Documents that may wait; more get status 503.")] = 256,
    seconds: Annotated[float, typer.Option(min=0.001, help="Time limit of a request.")] = 30.0,
    body_bytes: Annotated[int, typer.Option(min=1, help="Size limit of a request's body.")] = 1_000_000,
    text_characters: Annotated[int, typer.Option(min=1, help="Length limit of a text.")] = 100_000,
) -> None:
    """Serve linking over HTTP, with a page at /; on this machine only, unless there is a key."""
    given = {name: value for name, value in locals().items() if name not in ("model", "kb")}
    import logging

    from parlink.errors import ParlinkError
    from parlink.serve.memory import keep_few_kernels
    from parlink.serve.settings import Settings

    settings = Settings(**given)
    keep_few_kernels()
    try:
        from parlink.serve.run import serve as run
    except ModuleNotFoundError as error:
        raise ParlinkError(f"the service needs {error.name}; install parlink[serve]") from error
    from parlink.linking.linker import Linker

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    linker = Linker.load(model, kb=kb)
    run(linker, settings, started=lambda address: typer.echo(f"parlink is at {address} (Ctrl-C stops it)", err=True))
