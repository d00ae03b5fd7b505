"""Open a model and serve it: what `parlink serve` does once its options are read."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from parlink.bars import spinner
from parlink.config import LinkOptions
from parlink.errors import ParlinkError
from parlink.load_options import LoadOptions
from parlink.serve.settings import Settings


def start(
    settings: Settings,
    *,
    options: LinkOptions,
    model: Path | None,
    kb: Path | None,
    load: LoadOptions,
    announce: Callable[[str], None],
) -> None:
    """Serve a model folder until SIGINT or SIGTERM, logging to stderr; `announce` is told the address.

    `options` hold for requests that do not say otherwise.
    """
    try:
        from parlink.serve.queries import check_defaults
        from parlink.serve.run import serve
    except ModuleNotFoundError as error:
        raise ParlinkError(f"the service needs {error.name}; install parlink[serve]") from error
    from parlink.linking.keep import keep
    from parlink.linking.linker import Linker

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    check_defaults(options, settings)
    with spinner("opening the model"):
        linker = keep(Linker.load(model, kb=kb, device=load.device, precision=load.precision))
    serve(linker, settings, options=options, announce=announce)
