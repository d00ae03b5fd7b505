from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Iterator

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from parlink.errors import ConfigError
from parlink.linking.linker import Linker
from parlink.serve.guard import Guard
from parlink.serve.metrics import Metrics
from parlink.serve.settings import Settings
from tiny_server import running

KEY = "a-key-that-nobody-guesses"
BODY = {"text": "Kent won."}


@pytest.fixture(scope="module")
def local(linker: Linker) -> Iterator[httpx.Client]:
    with running(linker) as address, httpx.Client(base_url=address, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def locked(linker: Linker) -> Iterator[httpx.Client]:
    with running(linker, api_key=KEY) as address, httpx.Client(base_url=address, timeout=30) as client:
        yield client


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7", "example.org", "127.0.0.1.example.org", ""])
def test_a_public_address_is_refused_without_a_key(host: str) -> None:
    with pytest.raises(ConfigError, match="--api-key"):
        Settings(host=host)
    assert not Settings(host=host, insecure=True).is_local
    assert not Settings(host=host, api_key=KEY).is_local


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost", "LOCALHOST"])
def test_this_machine_needs_no_key(host: str) -> None:
    assert Settings(host=host).is_local


@pytest.mark.parametrize("key", ["", "short", "ключ-из-шестнадцати-букв"])
def test_a_key_that_is_none_is_refused(key: str) -> None:
    with pytest.raises(ConfigError, match="secrets"):
        Settings(api_key=key)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer"},
        {"authorization": f"Bearer {KEY[:-1]}"},
        {"authorization": f"Bearer {KEY}x"},
        {"authorization": f"Basic {KEY}"},
        {"authorization": KEY},
        {"x-api-key": KEY.upper()},
        {"x-api-key": "\u00e9" * 20},
    ],
    ids=repr,
)
def test_a_wrong_key_opens_nothing(locked: httpx.Client, headers: dict[str, str]) -> None:
    raw = {name: value.encode("latin-1") for name, value in headers.items()}
    for method, path in (
        ("POST", "/v1/link"),
        ("POST", "/nif"),
        ("GET", "/v1/entities?title=Kent"),
        ("GET", "/metrics"),
    ):
        answer = locked.request(method, path, headers=raw)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert KEY not in answer.text


@pytest.mark.parametrize("headers", [{"authorization": f"Bearer {KEY}"}, {"x-api-key": KEY}], ids=repr)
def test_the_key_opens_everything(locked: httpx.Client, headers: dict[str, str]) -> None:
    assert locked.post("/v1/link", json=BODY, headers=headers).status_code == 200
    assert locked.get("/metrics", headers=headers).status_code == 200


def test_the_page_and_the_probes_need_no_key(locked: httpx.Client) -> None:
    for path in ("/", "/docs", "/static/index.html", "/static/shared/base.css", "/healthz", "/readyz", "/openapi.json"):
        assert locked.get(path).status_code == 200, path


def test_the_description_names_both_ways_to_give_a_key_and_the_open_routes(locked: httpx.Client) -> None:
    description = locked.get("/openapi.json").json()
    assert description["security"] == [{"bearer": []}, {"header": []}]
    header = description["components"]["securitySchemes"]["header"]
    assert header == {"type": "apiKey", "in": "header", "name": "X-API-Key"}
    for path, operations in description["paths"].items():
        for operation in operations.values():
            assert ("security" in operation) == (path in ("/healthz", "/readyz")), path


@pytest.mark.parametrize(
    "path", ["/", "/static/app.js", "/healthz", "/readyz", "/metrics", "/v1/model", "/openapi.json"]
)
def test_head_is_get_without_the_body(local: httpx.Client, path: str) -> None:
    got, head = local.get(path), local.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"] == got.headers["content-type"]
    assert "x-frame-options" in head.headers


def send_raw(client: httpx.Client, *lines: str, body: bytes = b"") -> bytes:
    """The first bytes of the answer to a request that no client library would send."""
    with socket.create_connection((client.base_url.host, client.base_url.port), timeout=30) as connection:
        connection.sendall("\r\n".join([*lines, "Host: localhost", "", ""]).encode() + body)
        return connection.recv(65_536)


def test_two_lengths_of_a_body_are_refused(local: httpx.Client) -> None:
    head = (
        "POST /v1/link HTTP/1.1",
        "Content-Type: application/json",
        "Content-Length: 5",
        "Transfer-Encoding: chunked",
    )
    assert send_raw(local, *head, body=b"0\r\n\r\n").startswith(b"HTTP/1.1 400")


def test_a_head_without_end_is_refused(local: httpx.Client) -> None:
    with pytest.raises(OSError), socket.create_connection((local.base_url.host, local.base_url.port)) as connection:
        connection.settimeout(30)
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        while True:
            connection.sendall(b"X-Long: " + b"a" * 60_000 + b"\r\n")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site", "origin": "http://localhost:1"}, 403),
        ({"origin": "http://localhost:8000", "host": "localhost:8000"}, 422),
        ({"sec-fetch-site": "same-origin", "origin": "https://linker.example"}, 422),
        ({}, 422),
    ],
    ids=repr,
)
def test_a_page_of_another_site_changes_nothing(linker: Linker, headers: dict[str, str], status: int) -> None:
    with running(linker, allow_edits=True) as address, httpx.Client(base_url=address, timeout=30) as client:
        assert client.post("/v1/entities", json={"title": ""}, headers=headers).status_code == status
        if status == 403:
            assert client.delete("/v1/entities", params={"title": "Kent"}, headers=headers).status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "", "localhost.evil.example", "[evil"])
def test_a_local_service_answers_to_no_other_name(local: httpx.Client, host: str) -> None:
    answer = local.post("/v1/link", json=BODY, headers={"host": host})
    assert (answer.status_code, "answers only as localhost or 127.0.0.1" in answer.json()["error"]) == (400, True)


@pytest.mark.parametrize("host", ["localhost", "localhost:99", "127.0.0.1:8000", "[::1]:8000", "[::1]"])
def test_a_local_service_answers_to_its_names(local: httpx.Client, host: str) -> None:
    assert local.get("/healthz", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 200),
        ("GET", "/static/app.js", 200),
        ("GET", "/nowhere", 404),
        ("PUT", "/v1/link", 405),
        ("POST", "/v1/link", 415),
        ("GET", "/metrics", 200),
    ],
)
def test_every_answer_has_the_security_headers(local: httpx.Client, method: str, path: str, status: int) -> None:
    answer = local.request(method, path)
    assert answer.status_code == status
    policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert (policy["script-src"], policy["style-src"]) == ("'self'", "'self'")
    assert not {"'unsafe-inline'", "'unsafe-eval'", "*"} & {word for value in policy.values() for word in value.split()}
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert "server" not in answer.headers
    assert "access-control-allow-origin" not in answer.headers


def test_logs_hold_no_texts(local: httpx.Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    local.post("/v1/link", json={"text": "A Secret of Kent."})
    local.post("/v1/link", json={"Secret": 1})
    local.post("/v1/link", content="Secret", headers={"content-type": "application/json"})
    local.post("/v1/link?Secret=1", json={"text": "A Secret of Kent."})
    local.get("/v1/entities", params={"title": "Secret"})
    local.get("/Secret")
    local.request("SECRET", "/")
    ours = [record for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
    lines = [record.getMessage() for record in ours]
    assert any(line.startswith("POST /v1/link 200") for line in lines)
    assert not [line for line in lines if "secret" in line.lower()]


def test_a_bug_is_an_answer_too_and_its_message_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise ValueError("Secret")

    async def ask() -> httpx.Response:
        guard = Guard(broken, settings=Settings(), metrics=Metrics())
        async with httpx.AsyncClient(transport=httpx.ASGITransport(guard), base_url="http://localhost") as client:
            return await client.get("/")

    answer = asyncio.run(ask())
    assert (answer.status_code, "default-src" in answer.headers["content-security-policy"]) == (500, True)
    assert "ValueError" in caplog.text
    assert "Secret" not in answer.text + caplog.text.replace('raise ValueError("Secret")', "")
