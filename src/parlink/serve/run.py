"""Run the application on a socket until it is told to stop."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable

import uvicorn

from parlink.errors import ConfigError
from parlink.linking.linker import Linker
from parlink.serve.app import create_app
from parlink.serve.settings import Settings

MAX_CONNECTIONS = 2048
GRACE_SECONDS = 5


def serve(linker: Linker, settings: Settings, *, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM, then finish what was accepted; `announce` is told the address."""
    with open_listener(settings) as listener:
        server = make_server(linker, settings)
        announce(format_address(listener))
        try:
            server.run(sockets=[listener])
        except KeyboardInterrupt:
            return


def make_server(linker: Linker, settings: Settings) -> uvicorn.Server:
    """Make the server; its own access log is off because it would hold what clients ask for."""
    logging.getLogger("uvicorn.access").disabled = True
    config = uvicorn.Config(
        create_app(linker, settings),
        access_log=False,
        log_config=None,
        server_header=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=int(settings.seconds) + GRACE_SECONDS,
        ws="none",
    )
    return uvicorn.Server(config)


def open_listener(settings: Settings) -> socket.socket:
    """Open the socket, so that a port that is taken is a clear error."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=MAX_CONNECTIONS)
    except OSError as error:
        place = f"{settings.host}, port {settings.port}"
        raise ConfigError(f"cannot listen on {place} ({error.strerror}); give another --host or --port") from error


def format_address(listener: socket.socket) -> str:
    """Return the address to open in a browser."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
