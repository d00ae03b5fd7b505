"""How many requests of a kind are let in at a time, altogether and of one client."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from parlink.serve.settings import Settings

Kind = Literal["open", "read", "edit", "link"]
LINK_PATHS = frozenset({"/v1/link", "/nif", "/rel", "/rel/ne"})
OPEN_PATHS = frozenset({"/", "/docs", "/healthz", "/readyz", "/openapi.json"})  # and /static/: nothing of anybody's


class FullError(Exception):
    """There are too many of this kind, or of this client."""


def kind_of(method: str, path: str) -> Kind:
    """Return which kind of request it is; open ones need no key."""
    if method in ("GET", "HEAD"):
        return "open" if path in OPEN_PATHS or path.startswith("/static/") else "read"
    return "link" if path in LINK_PATHS else "edit"


class Turnstile:
    """Counts who is inside; probes and pages always get in."""

    def __init__(self, settings: Settings) -> None:
        self._most = {
            "link": settings.waiting + 2 * settings.batch,
            "read": settings.waiting,
            "edit": settings.waiting,
        }
        self._of_client = settings.client_requests
        self._inside: Counter[tuple[Kind, str | None]] = Counter()

    @contextmanager
    def enter(self, kind: Kind, client: str) -> Iterator[None]:
        """Count a request while it is inside; raises FullError if there is no room."""
        if kind == "open":
            yield
            return
        if self._inside[kind, None] >= self._most[kind]:
            raise FullError("too many requests at a time; try again later")
        if self._inside[kind, client] >= self._of_client:
            raise FullError(f"more than {self._of_client} requests of one client at a time; try again later")
        keys: tuple[tuple[Kind, str | None], ...] = ((kind, None), (kind, client))
        self._inside.update(keys)
        try:
            yield
        finally:
            for key in keys:
                self._inside[key] -= 1
                if not self._inside[key]:
                    del self._inside[key]
