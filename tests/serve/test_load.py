from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from typer.testing import CliRunner

from parlink.checkpoint.folder import save_checkpoint
from parlink.cli.main import app
from parlink.errors import ParlinkError
from parlink.linking.linker import Linker
from tiny import SENTENCES
from tiny_kb import tiny_folder
from tiny_model import tiny_checkpoint
from tiny_server import running

LONG = {"text": " ".join(SENTENCES) * 60}  # keeps the tiny model busy for a second or more
SHORT = {"text": "Kent won."}
KEY = "a-key-that-nobody-guesses"


HARD = "/v1/link?mention_threshold=-10&search=beam&beams=20&overlaps=keep"
ONE_LANE = {"small_work": 0, "work": 10**9, "seconds": 6000.0, "text_characters": 1_000_000}


@contextmanager
def busy(address: str, *, key: str = "") -> Iterator[None]:
    """A client that has the model at work for longer than any test takes, until the end of the block."""
    place, raw = urlsplit(address), json.dumps({"text": LONG["text"] * 8}).encode()
    head = f"POST {HARD} HTTP/1.1\r\nHost: {place.netloc}\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\n"
    with socket.create_connection((place.hostname, place.port)) as client:
        client.sendall(f"{head}Content-Length: {len(raw)}\r\n\r\n".encode() + raw)
        assert eventually(lambda: metric(address, "parlink_running_seconds", key=key) > 0)
        yield


def metric(address: str, name: str, *, key: str = "") -> float:
    told = httpx.get(f"{address}metrics", headers={"x-api-key": key}, timeout=60).text
    (line,) = [line for line in told.splitlines() if line.startswith(f"{name} ")]
    return float(line.split()[1])


def eventually(condition: object, *, seconds: float = 60.0) -> bool:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return bool(condition())


def test_a_full_queue_says_when_to_come_again(linker: Linker) -> None:
    async def flood(address: str) -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=address, timeout=60) as client:
            with busy(address):
                asked = [asyncio.create_task(client.post("/v1/link", json=SHORT)) for _ in range(12)]
                while sum(task.done() for task in asked) < 8:
                    await asyncio.sleep(0.01)
                assert (await client.get("/healthz")).status_code == 200
                assert (await client.get("/readyz")).json() == {"error": "4 documents are waiting"}
            return await asyncio.gather(*asked)

    with running(linker, waiting=4, **ONE_LANE) as address:
        answers = asyncio.run(flood(address))
    assert Counter(answer.status_code for answer in answers) == {200: 4, 503: 8}
    assert all(answer.headers["retry-after"] == "1" for answer in answers if answer.status_code == 503)


def test_what_would_wait_in_vain_is_refused_by_its_head_and_may_ask_again(linker: Linker) -> None:
    lane = {"small_work": 10**9, "work": 10**9, "seconds": 6000.0, "text_characters": 1_000_000, "patience": 0.001}
    with running(linker, head_seconds=0.5, **lane) as address, busy(address), httpx.Client(base_url=address) as client:
        for path in ("/v1/link", "/v1/link?top=3"):
            answer = client.post(path, json=SHORT)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            assert "try again later" in answer.json()["error"] and answer.headers["x-frame-options"] == "DENY"
        assert client.get("/healthz").status_code == 200  # on the same connection
        counted = 'parlink_requests_total{method="POST",path="/v1/link",status="503"}'
        assert metric(address, counted) == 2
        place = urlsplit(address)
        for version, kept in (("1.1", True), ("1.0", False)):
            head = f"POST /v1/link HTTP/{version}\r\nHost: {place.netloc}\r\nContent-Length: 2\r\n\r\n"
            with socket.create_connection((place.hostname, place.port), timeout=60) as alone:
                alone.sendall(head.encode() + b"{}")
                assert alone.recv(10_000).startswith(b"HTTP/1.1 503")
                if kept:
                    alone.sendall(head.encode() + b"{")  # of which the rest does not come in time
                assert alone.recv(100) == b""
        assert metric(address, counted) == 4


def test_whoever_has_no_key_is_told_so_even_where_all_are_refused(linker: Linker) -> None:
    lane = {"small_work": 10**9, "work": 10**9, "seconds": 6000.0, "text_characters": 1_000_000, "patience": 0.001}
    with running(linker, api_key=KEY, **lane) as address, busy(address, key=KEY):
        for headers, status in (({"x-api-key": KEY}, 503), ({"x-api-key": "another"}, 401), ({}, 401)):
            assert httpx.post(f"{address}v1/link", json=SHORT, headers=headers, timeout=60).status_code == status


def test_too_late_is_504_and_the_next_one_is_served(linker: Linker) -> None:
    room = {"work": 10**9, "text_characters": 1_000_000}  # for a text that no CPU links in half a second
    with running(linker, seconds=0.5, **room) as address, httpx.Client(base_url=address, timeout=60) as client:
        answer = client.post(HARD, json={"text": LONG["text"] * 8})
        assert (answer.status_code, "0.5 s" in answer.json()["error"]) == (504, True)
        assert eventually(lambda: client.post("/v1/link", json=SHORT).status_code == 200)


def test_a_body_that_does_not_come_is_408(linker: Linker) -> None:
    with running(linker, body_seconds=0.2) as address:
        place = urlsplit(address)
        with socket.create_connection((place.hostname, place.port), timeout=60) as client:
            head = f"POST /v1/link HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: application/json\r\n"
            client.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
            assert client.recv(100).startswith(b"HTTP/1.1 408")


def test_a_client_that_goes_away_frees_its_place(linker: Linker) -> None:
    with running(linker, waiting=2, **ONE_LANE) as address, busy(address):
        place = urlsplit(address)
        raw = json.dumps([SHORT, SHORT]).encode()
        head = f"POST /v1/link HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: application/json\r\n"
        with socket.create_connection((place.hostname, place.port)) as client:
            client.sendall(f"{head}Content-Length: {len(raw)}\r\n\r\n".encode() + raw)
            assert eventually(lambda: metric(address, "parlink_waiting_documents") == 2)
            assert httpx.get(f"{address}readyz", timeout=60).status_code == 503
            assert httpx.post(f"{address}v1/link", json=SHORT, timeout=60).status_code == 503
        assert eventually(lambda: metric(address, "parlink_waiting_documents") == 0)
        assert httpx.get(f"{address}readyz", timeout=60).status_code == 200


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("command")
    save_checkpoint(path / "model", tiny_checkpoint(seed=3, spread=2.0), card="")
    tiny_folder(path)
    return path


@contextmanager
def command(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`parlink serve` in a process of its own, and its address."""
    words = [sys.executable, "-m", "parlink", "serve", "--model", "model", "--kb", "kb", "--port", "0", *options]
    with (folder / "log").open("w") as file:
        process = subprocess.Popen(words, cwd=folder, stderr=file, text=True)
    try:
        while "startup complete" not in (log := (folder / "log").read_text()):
            assert process.poll() is None, log
            time.sleep(0.05)
        said = re.search(r"parlink is at (http://\S+/) ", log)
        assert said is not None
        yield process, said[1]
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_shutdown_finishes_what_was_accepted(folder: Path, sign: signal.Signals) -> None:
    async def ask_and_stop(process: subprocess.Popen[str], address: str) -> list[int]:
        async with httpx.AsyncClient(base_url=address, timeout=60) as client:
            asked = [asyncio.create_task(client.post(HARD, json=LONG))]
            while "parlink_running_seconds 0.0" in (await client.get("/metrics")).text:
                assert not asked[0].done(), (await asked[0]).text
            asked += [asyncio.create_task(client.post("/v1/link", json=SHORT)) for _ in range(2)]
            while "parlink_waiting_documents 2.0" not in (await client.get("/metrics")).text:
                assert not asked[0].done(), "too fast for this test"
            process.send_signal(sign)
            return [answer.status_code for answer in await asyncio.gather(*asked)]

    limits = ("--small-work", "0", "--work", "1000000000", "--seconds", "6000")
    with command(folder, "--grace", "60", *limits) as (process, address):
        assert asyncio.run(ask_and_stop(process, address)) == [200, 200, 200]
        assert process.wait(60) in (0, -sign)
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{address}healthz")
    log = (folder / "log").read_text()
    assert "Traceback" not in log
    assert "Hamburg" not in log


def test_sigterm_ends_what_runs_within_the_grace_and_tells_whoever_waits(folder: Path) -> None:
    async def ask_and_stop(process: subprocess.Popen[str], address: str) -> list[int]:
        async with httpx.AsyncClient(base_url=address, timeout=60) as client:
            book = {"text": LONG["text"] * 5}
            asked = [asyncio.create_task(client.post(HARD, json=book)) for _ in range(3)]
            while "parlink_waiting_documents 2.0" not in (await client.get("/metrics")).text:
                assert not any(task.done() for task in asked)
            process.send_signal(signal.SIGTERM)
            return [answer.status_code for answer in await asyncio.gather(*asked)]

    limits = ("--work", "1000000000", "--seconds", "6000", "--text-characters", "1000000")
    options = ("--grace", "2.5", "--batch", "1", *limits)
    with command(folder, *options) as (process, address):
        assert asyncio.run(ask_and_stop(process, address)) == [503, 503, 503]
        process.wait(30)
    assert "Traceback" not in (folder / "log").read_text()


def test_after_too_much_work_everybody_is_served_as_before(linker: Linker) -> None:
    room = {"work": 10**9, "text_characters": 1_000_000}
    with running(linker, seconds=1.0, **room) as address, httpx.Client(base_url=address, timeout=60) as client:
        for _ in range(3):
            assert client.post(HARD, json={"text": LONG["text"] * 8}).status_code in (503, 504)
            assert client.post("/v1/link", json=SHORT).status_code == 200
        assert eventually(lambda: metric(address, "parlink_running_seconds") == 0, seconds=20)
        assert client.get("/readyz").status_code == 200


def test_memory_stays_flat_and_the_service_up_at_more_than_it_can_do(folder: Path) -> None:
    def resident(process: subprocess.Popen[str]) -> int:
        return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    async def overload(address: str, seconds: float) -> Counter[int]:
        counts: Counter[int] = Counter()
        end = time.monotonic() + seconds

        async def client(own: httpx.AsyncClient) -> None:
            while time.monotonic() < end:
                counts[(await own.post("/v1/link", json={"text": SENTENCES[0] * 4})).status_code] += 1

        async with httpx.AsyncClient(base_url=address, timeout=60) as own:
            await asyncio.gather(*(client(own) for _ in range(40)))
        return counts

    with command(folder, "--waiting", "8") as (process, address):
        asyncio.run(overload(address, 2.0))  # to its working size
        before = resident(process)
        counts = asyncio.run(overload(address, 4.0))
        assert counts.keys() == {200, 503}
        assert counts[200] > 20
        assert resident(process) - before < 30_000_000
        assert httpx.get(f"{address}healthz", timeout=60).status_code == 200


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--host", "0.0.0.0"), "--api-key"),
        (("--api-key", "short"), "at least 16"),
        (("--model", "nowhere"), "nowhere: no such model folder"),
        (("--host", "203.0.113.7", "--insecure"), "cannot listen on 203.0.113.7"),
    ],
)
def test_what_cannot_start_says_why(folder: Path, options: tuple[str, ...], message: str) -> None:
    given = ["serve", "--model", str(folder / "model"), "--kb", str(folder / "kb"), "--port", "0", *options]
    done = CliRunner().invoke(app, given)
    assert isinstance(done.exception, ParlinkError), done.output
    assert message in str(done.exception)
