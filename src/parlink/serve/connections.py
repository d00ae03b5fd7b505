"""Connections that have to ask in time, and make room when there are too many of them.

uvicorn waits for ever for a connection that says nothing, takes heads of any length, and at its limit answers 503 to
everybody. Here the head of a request has to come in time; and where there are too many connections, or too many of one
address, the one that has kept us waiting longest is closed for the new one, so that probes are always answered. A
connection whose request has arrived is never closed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from parlink.serve.settings import Settings

HEAD_BYTES = 65_536


class Connections:
    """All open connections, those first that have kept us waiting longest."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
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
        """Wait no longer for the head."""
        self._cancel_timer()
        super().on_headers_complete()

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
