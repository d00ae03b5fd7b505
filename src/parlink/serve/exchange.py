"""A request and its answer in the outer layer: headers for every answer, and bodies that are read to their end."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

REST_BYTES, REST_SECONDS = 1 << 20, 0.5  # of a body that is refused, read all the same
SECURITY_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_ENCODED = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
_NAMES = frozenset(name for name, _ in _ENCODED)


def write_answer(answer: Response) -> bytes:
    """The bytes of an answer, for where there is no exchange."""
    headers = b"".join(b"%s: %s\r\n" % header for header in (*answer.raw_headers, *_ENCODED))
    return f"HTTP/1.1 {answer.status_code} \r\n".encode() + headers + b"\r\n" + bytes(answer.body)


class Exchange:
    """A request and its answer, which gets the security headers and whose status is remembered."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        self._receive, self._send = receive, send
        self._unread = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
        self._is_head = scope["method"] == "HEAD"
        self.status: int | None = None

    async def receive(self) -> Message:
        """Pass a part of the request on."""
        message = await self._receive()
        self._unread = self._unread and bool(message.get("more_body", False))
        return message

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            await self._read_rest()
            closing = [(b"connection", b"close")] if self._unread else []  # then the server hangs up: tell the client
            given = [header for header in message["headers"] if header[0] not in _NAMES]
            message = {**message, "headers": [*given, *_ENCODED, *closing]}
        elif self._is_head:
            message = {**message, "body": b""}
        await self._send(message)

    async def _read_rest(self) -> None:
        """Read what is left of a small body: a server that hangs up on unread data may take its answer with it."""
        left = REST_BYTES
        try:
            async with asyncio.timeout(REST_SECONDS):
                while self._unread and left > 0:
                    message = await self.receive()
                    left -= len(message.get("body", b""))
        except TimeoutError:
            return
