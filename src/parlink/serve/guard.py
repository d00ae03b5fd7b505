"""The outer layer of the service: who may ask, how many at a time, what every answer carries, what is logged.

The key comes first: whoever has none is refused before anything is counted, read or parsed.
"""

from __future__ import annotations

import hmac
import logging
import time
import traceback
from hashlib import sha256
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from parlink.serve.answers import RETRY, refuse
from parlink.serve.exchange import Exchange
from parlink.serve.metrics import Metrics
from parlink.serve.settings import Settings
from parlink.serve.turnstile import FullError, Kind, Turnstile, kind_of

CLIENT_GONE = 499
_log = logging.getLogger(__name__)


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, *, settings: Settings, metrics: Metrics) -> None:
        self._app, self._settings, self._metrics = app, settings, metrics
        self._turnstile = Turnstile(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens inside."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, exchange = time.perf_counter(), Exchange(scope, receive, send)
        inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope  # HEAD is GET without the body
        try:
            await self._answer(inner, exchange)
        except Exception as error:  # no message: it may hold text
            _log.error("%s in the service\n%s", type(error).__name__, "".join(traceback.format_tb(error.__traceback__)))
            if exchange.status is None:
                await refuse(500, "internal error; the log of the service says where")(inner, receive, exchange.send)
        finally:
            scope["route"] = inner.get("route")
            self._record(scope, exchange.status or CLIENT_GONE, time.perf_counter() - began)

    async def _answer(self, scope: Scope, exchange: Exchange) -> None:
        headers, kind = Headers(scope=scope), kind_of(scope["method"], scope["path"])
        refusal = self._refuse(headers, kind)
        if refusal is not None:
            await refusal(scope, exchange.receive, exchange.send)
            return
        try:
            with self._turnstile.enter(kind, scope["client"][0] if scope.get("client") else ""):
                await self._app(scope, exchange.receive, exchange.send)
        except FullError as error:
            await refuse(503, str(error), RETRY)(scope, exchange.receive, exchange.send)

    def _refuse(self, headers: Headers, kind: Kind) -> Response | None:
        """Refuse by the head of a request, or return None."""
        if kind != "open" and not has_key(headers, self._settings):
            message = "a key is needed: Authorization: Bearer KEY, or X-API-Key: KEY"
            return refuse(401, message, {"WWW-Authenticate": "Bearer"})
        if not is_asked_by_name(headers.get("host", ""), self._settings):
            names = " or ".join(dict.fromkeys(self._settings.host_names))
            return refuse(400, f"without a key the service answers only as {names}; ask for one of these, or use a key")
        if "content-length" in headers and "transfer-encoding" in headers:
            return refuse(400, "Content-Length and Transfer-Encoding together leave open where the body ends; send one")
        if kind == "edit" and not _is_same_origin(headers):
            return refuse(403, "a page of another site may not change the knowledge base")
        return None

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        path = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST", "DELETE") else "other"
        self._metrics.count_request(method, path, status, seconds)
        _log.info("%s %s %d %.0f ms", method, path, status, 1000 * seconds)


def has_key(headers: Headers, settings: Settings) -> bool:
    """Whether a request has the key of the service, if that has one."""
    if settings.api_key is None:
        return True
    kind, _, bearer = headers.get("authorization", "").partition(" ")
    given = bearer.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "")
    return hmac.compare_digest(_digest(given), _digest(settings.api_key))


def is_asked_by_name(host: str, settings: Settings) -> bool:
    """Whether the service goes by the name it is asked under."""
    if "*" in settings.host_names:
        return True
    try:
        return urlsplit(f"//{host}").hostname in [name.strip("[]").lower() for name in settings.host_names]
    except ValueError:
        return False


def _is_same_origin(headers: Headers) -> bool:
    """Whether no page asks, or one of our own; browsers say whose page it is, and pages cannot change that."""
    if "sec-fetch-site" in headers:
        return headers["sec-fetch-site"] in ("same-origin", "none")
    return "origin" not in headers or urlsplit(headers["origin"]).netloc == headers.get("host")


def _digest(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogateescape")).digest()
