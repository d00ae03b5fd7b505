"""The outer layer of the service: who may ask, how many at a time, what every answer carries, what is logged."""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
import traceback
from hashlib import sha256

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parlink.serve.answers import refuse
from parlink.serve.metrics import Metrics
from parlink.serve.settings import Settings

OPEN_PATHS = frozenset({"/", "/docs", "/healthz", "/readyz", "/openapi.json"})  # and /static/: nothing of anybody's
CLIENT_GONE = 499
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
_log = logging.getLogger(__name__)


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, *, settings: Settings, metrics: Metrics) -> None:
        self._app, self._settings, self._metrics = app, settings, metrics
        self._posts = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens inside."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, answer = time.perf_counter(), _Exchange(scope, receive, send)
        self._posts += scope["method"] == "POST"
        try:
            refusal = self._refuse(scope)
            await (refusal or self._app)(scope, answer.receive, answer.send)
        except Exception as error:  # no message: it may hold text
            _log.error("%s in the service\n%s", type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))
            if answer.status is None:
                await refuse(500, "internal error; the log of the service says where")(scope, receive, answer.send)
        finally:
            self._posts -= scope["method"] == "POST"
            self._record(scope, answer.status or CLIENT_GONE, time.perf_counter() - began)

    def _refuse(self, scope: Scope) -> Response | None:
        headers, path = Headers(scope=scope), scope["path"]
        if path not in OPEN_PATHS and not path.startswith("/static/") and not self._has_key(headers):
            return refuse(
                401, "a key is needed: Authorization: Bearer KEY, or X-API-Key: KEY", {"WWW-Authenticate": "Bearer"}
            )
        if self._posts > self._settings.waiting + self._settings.batch:
            return refuse(503, "too many requests at a time; try again later", {"Retry-After": "1"})
        return None

    def _has_key(self, headers: Headers) -> bool:
        if self._settings.api_key is None:
            return True
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        given = bearer.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "")
        return hmac.compare_digest(_digest(given), _digest(self._settings.api_key))

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        path = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST", "DELETE") else "other"
        self._metrics.request(method, path, status, seconds)
        _log.info("%s %s %d %.0f ms", method, path, status, 1000 * seconds)


class _Exchange:
    """A request and its answer, which gets the security headers and whose status is remembered."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        self._receive, self._send = receive, send
        self._unread = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
        self.status: int | None = None

    async def receive(self) -> Message:
        message = await self._receive()
        self._unread = self._unread and bool(message.get("more_body", False))
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers[name] = value
            await self._read_rest()
            if self._unread:  # then the server hangs up, and the client should know
                headers["connection"] = "close"
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


def _digest(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogateescape")).digest()
