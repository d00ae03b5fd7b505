from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from parlink.linking.linker import Linker
from tiny_server import running

KEY = "a-key-that-nobody-guesses"
HALF = b"POST /v1/link HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n%s\r\n{"
ASKED = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@contextmanager
def connected(address: str, number: int, sent: bytes) -> Iterator[list[socket.socket]]:
    """Many connections that have all sent the same and wait."""
    place = urlsplit(address)
    with ExitStack() as stack:
        opened = [
            stack.enter_context(socket.create_connection((place.hostname, place.port), timeout=30))
            for _ in range(number)
        ]
        for connection in opened:
            connection.sendall(sent)
        yield opened


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def check_service(address: str, headers: dict[str, str]) -> None:
    for path in ("healthz", "readyz"):
        assert httpx.get(f"{address}{path}", timeout=30).status_code == 200
    answer = httpx.post(f"{address}v1/link", json={"text": "Kent won."}, headers=headers, timeout=30)
    assert answer.status_code == 200


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\n", HALF % b""], ids=["silent", "half a head", "half a body"])
def test_connections_that_keep_us_waiting_shut_nobody_out(linker: Linker, sent: bytes) -> None:
    with running(linker, connections=20, client_connections=1000) as address, connected(address, 60, sent):
        check_service(address, {})


def test_one_address_has_its_share_of_connections(linker: Linker) -> None:
    with running(linker, client_connections=5) as address, connected(address, 8, b"") as opened:
        assert all(is_closed(connection) for connection in opened[:3])
        opened[-1].sendall(ASKED)
        assert opened[-1].recv(100).startswith(b"HTTP/1.1 200")
        check_service(address, {})


def test_half_sent_posts_without_a_key_shut_out_nobody_who_has_one(linker: Linker) -> None:
    limits = {"waiting": 8, "batch": 4, "client_requests": 4}
    with running(linker, api_key=KEY, **limits) as address, connected(address, 60, HALF % b"") as opened:
        check_service(address, {"x-api-key": KEY})
        assert opened[0].recv(100).startswith(b"HTTP/1.1 401")


def test_one_client_cannot_have_all_places_of_a_kind(linker: Linker) -> None:
    with running(linker, client_requests=3) as address, connected(address, 3, HALF % b""):
        deadline = time.monotonic() + 30
        while (answer := httpx.post(f"{address}v1/link", json={"text": "Kent"})).status_code != 503:
            assert time.monotonic() < deadline
        assert "3 requests of one client" in answer.json()["error"]
        assert httpx.get(f"{address}v1/model").status_code == 200  # of another kind
        assert httpx.get(f"{address}healthz").status_code == 200


@pytest.mark.parametrize("sent", [b"", b"GET / HTT", ASKED + b"GET / HTT"], ids=["nothing", "half", "a second half"])
def test_a_head_that_does_not_come_is_not_awaited(linker: Linker, sent: bytes) -> None:
    with running(linker, head_seconds=0.2) as address, connected(address, 1, sent) as (connection,):
        while connection.recv(65_536):
            pass


def test_an_idle_connection_is_closed(linker: Linker) -> None:
    with running(linker, idle_seconds=0.2) as address, connected(address, 1, ASKED) as (connection,):
        while connection.recv(65_536):
            pass
