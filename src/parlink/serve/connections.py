"""Connections that have to ask in time, and make room when there are too many of them.

uvicorn waits for ever for a connection that says nothing, takes heads of any length, and at its limit answers 503 to
everybody. Here the head of a request has to come in time; and where there are too many connections, or too many of one
address, the one that has kept us waiting longest is closed for the new one, so that probes are always answered. A
connection whose request has arrived is never closed.

What would only wait in vain is refused right here, by its head: under five times the load that can be answered most
requests are, and every tenth of a millisecond that a refusal takes is one that the model does not get.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from starlette.datastructures import Headers
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from parlink.serve.answers import RETRY, refuse
from parlink.serve.exchange import write_answer
from parlink.serve.guard import has_key
from parlink.serve.metrics import Metrics
from parlink.serve.settings import Settings
from parlink.serve.turnstile import LINK_PATHS

HEAD_BYTES = 65_536
TOLD_SECONDS = 1.0  # after which the log is told again how many were refused
TOO_BUSY = write_answer(refuse(503, "more is waiting than can be answered in time; try again later", RETRY))
_LINK_PATHS = frozenset(path.encode() for path in LINK_PATHS)
_log = logging.getLogger(__name__)


class Connections:
    """All open connections, those first that have kept us waiting longest."""

    def __init__(self, settings: Settings, *, metrics: Metrics, is_busy: Callable[[], bool]) -> None:
        self.settings, self.is_busy, self._metrics = settings, is_busy, metrics
        self._refused, self._told = 0, 0.0  # since the log was told, and when that was
        self._open: dict[Connection, None] = {}
        self._of_client: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: Connection) -> None:
        """Take a new connection in, and close another one if there are too many."""
        self._open[connection] = None
        self._of_client[connection.address] += 1
        if self._of_client[connection.address] > self.settings.client_connections:
            self._close_oldest(connection.address)
        elif len(self) > self.settings.connections:
            self._close_oldest(None)

    def refresh(self, connection: Connection) -> None:
        """Move a connection that has been answered behind those that wait longer."""
        if connection in self._open:
            del self._open[connection]
            self._open[connection] = None

    def remove(self, connection: Connection) -> None:
        """Forget a closed connection."""
        if connection in self._open:
            del self._open[connection]
            self._of_client[connection.address] -= 1
            if not self._of_client[connection.address]:
                del self._of_client[connection.address]

    def count_refused(self, path: str) -> None:
        """Count a request that was refused by its head; the log has how many there were, every second at most."""
        self._metrics.count_request("POST", path, 503, 0.0)
        self._refused += 1
        now = time.monotonic()
        if now - self._told >= TOLD_SECONDS:
            _log.info("too busy: %d requests refused since this was last said", self._refused)
            self._refused, self._told = 0, now

    def _close_oldest(self, address: str | None) -> None:
        for connection in self._open:
            if connection.is_waiting and address in (None, connection.address):
                connection.hang_up()
                return


class Connection(HttpToolsProtocol):
    """One connection: uvicorn's, with time limits."""

    def __init__(self, *given: Any, connections: Connections, **options: Any) -> None:
        super().__init__(*given, **options)
        self._connections = connections
        self._timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._refused = ""  # the path of a request that is refused, of which the rest is still to come
        self.address = ""

    @property
    def is_waiting(self) -> bool:
        """Whether it is the client's turn: no request, or one that has not arrived as a whole."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection in."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._connections.add(self)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._cancel_timer()
        self._connections.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless the head of the request gets too long."""
        self._head_bytes += len(data)
        super().data_received(data)
        if self._timer is not None and self._head_bytes > HEAD_BYTES:  # and it is still not complete
            self.hang_up()

    def on_message_begin(self) -> None:
        """Wait for the rest of the head."""
        super().on_message_begin()
        self._wait_for_head()

    def on_headers_complete(self) -> None:
        """Wait no longer for the head, or only for the rest of what is refused."""
        if self._connections.is_busy() and self._is_small_question():
            self._refused = self.url.partition(b"?")[0].decode()
            return
        self._cancel_timer()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body, unless the request is refused."""
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Answer what is refused: a client may not read its answer before it has sent everything."""
        if not self._refused:
            super().on_message_complete()
            return
        self._connections.count_refused(self._refused)
        self._refused = ""
        self._cancel_timer()
        self.transport.write(TOO_BUSY)
        if self.parser.get_http_version() != "1.0" and self.parser.should_keep_alive():
            self.on_response_complete()
        else:
            self.transport.close()

    def _is_small_question(self) -> bool:
        """Whether a request, by its head, wants little linked, may do so, and is the only one here."""
        headers, settings = dict(self.headers), self._connections.settings
        length = headers.get(b"content-length", b"")
        return (
            (self.cycle is None or self.cycle.response_complete)
            and self.url.partition(b"?")[0] in _LINK_PATHS
            and self.parser.get_method() == b"POST"
            and length.isdigit()
            and int(length) <= settings.small_work
            and b"transfer-encoding" not in headers
            and not self.expect_100_continue
            and has_key(Headers(raw=self.headers), settings)
        )

    def on_response_complete(self) -> None:
        """Wait for the next request; uvicorn closes what is idle."""
        super().on_response_complete()
        self._connections.refresh(self)

    def hang_up(self) -> None:
        """Close the connection at once."""
        self._cancel_timer()
        self._connections.remove(self)
        self.transport.abort()

    def _wait_for_head(self) -> None:
        if self._timer is None:
            self._head_bytes = 0
            self._timer = self.loop.call_later(self._connections.settings.head_seconds, self.hang_up)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
