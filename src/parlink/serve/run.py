"""Run the application on a socket until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import resource
import socket
import threading
from collections.abc import Callable
from functools import partial
from types import FrameType

import uvicorn

from parlink.config import LinkOptions
from parlink.errors import ConfigError
from parlink.linking.linker import DEFAULT, Linker
from parlink.serve.app import create_app
from parlink.serve.batcher import Batcher
from parlink.serve.connections import Connection, Connections
from parlink.serve.settings import Settings

BACKLOG = 2048
OTHER_FILES = 128  # that the process has open beside its connections
CLOSING_SECONDS = 1.0  # of the grace: for answers to be sent, and then for the process to end
_log = logging.getLogger(__name__)


def serve(
    linker: Linker, settings: Settings, *, options: LinkOptions = DEFAULT, announce: Callable[[str], None]
) -> None:
    """Serve until SIGINT or SIGTERM, then finish what was accepted; `announce` is told the address."""
    with open_listener(settings) as listener:
        server = make_server(linker, settings, options=options)
        announce(format_address(listener))
        try:
            server.run(sockets=[listener])
        except KeyboardInterrupt:
            return


def make_server(linker: Linker, settings: Settings, *, options: LinkOptions = DEFAULT) -> Server:
    """Make the server; its own access log is off because it would hold what clients ask for."""
    logging.getLogger("uvicorn.access").disabled = True
    _raise_file_limit(settings.connections + OTHER_FILES)
    app = create_app(linker, settings, options=options)
    service = app.state.service
    connections = Connections(settings, metrics=service.metrics, is_busy=lambda: service.batcher.is_busy)
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        server_header=False,
        http=partial(Connection, connections=connections),  # type: ignore[arg-type]
        timeout_keep_alive=math.ceil(settings.idle_seconds),
        timeout_graceful_shutdown=math.ceil(settings.grace),
        ws="none",
    )
    return Server(config, service.batcher, settings.grace)


class Server(uvicorn.Server):
    """uvicorn, which ends within the grace whatever runs."""

    def __init__(self, config: uvicorn.Config, batcher: Batcher, grace: float) -> None:
        super().__init__(config)
        self._batcher, self._grace = batcher, grace

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish what was accepted while there is time; whoever has to be left is told to ask another server."""
        stopping = self._batcher.stop(max(self._grace - 2 * CLOSING_SECONDS, 0.0))
        finishing = asyncio.create_task(stopping)
        await super().shutdown(sockets)
        await finishing

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; and if that takes longer than the grace, end the process."""
        if not self.should_exit:
            watchdog = threading.Timer(self._grace, _end)
            watchdog.daemon = True
            watchdog.start()
        super().handle_exit(sig, frame)


def _end() -> None:
    _log.error("work could not be stopped in time; the process ends all the same")
    logging.shutdown()
    os._exit(1)


def _raise_file_limit(wanted: int) -> None:
    """Let the process have as many connections as it is told to, as far as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def open_listener(settings: Settings) -> socket.socket:
    """Open the socket, so that a port that is taken is a clear error."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=BACKLOG)
    except OSError as error:
        place = f"{settings.host}, port {settings.port}"
        raise ConfigError(f"cannot listen on {place} ({error.strerror}); give another --host or --port") from error


def format_address(listener: socket.socket) -> str:
    """Return the address to open in a browser."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
