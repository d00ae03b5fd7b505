"""The load test: 64 clients, then twice and five times what the service can do, in turns, and every answer checked.

    make test-slow
    python -m pytest tests/slow/test_load.py --load-seconds 60

What is measured goes to docs/reliability.md.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from service_load import Load, Server, ask_alone, flood, press, serve

CLIENTS, ROUND_SECONDS = 64, 10.0
SPREAD = 0.01  # share of answers whose links may differ from those of the text alone: batches round in another way
pytestmark = pytest.mark.slow


def run(server: Server, seconds: float) -> tuple[dict[float, Load], list[float]]:
    """The three loads take turns, so that a busy machine slows all of them; also the memory after each turn."""
    alone = asyncio.run(ask_alone(server))
    asyncio.run(press(server, Load(alone), clients=CLIENTS, seconds=5.0))  # to its working size
    loads = {times: Load(alone) for times in (1, 2, 5)}
    memory = [server.megabytes]
    for _ in range(max(1, round(seconds / ROUND_SECONDS / len(loads)))):
        for times, load in loads.items():
            began = server.cpu_seconds
            if times == 1:
                asyncio.run(press(server, load, clients=CLIENTS, seconds=ROUND_SECONDS))
            else:
                rate = times * loads[1].rate
                asyncio.run(flood(server, load, rate=rate, seconds=ROUND_SECONDS))
            load.cpu_seconds += server.cpu_seconds - began
            memory.append(server.megabytes)
    return loads, memory


def test_what_is_accepted_is_answered_soon_and_rightly(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    with serve(tmp_path) as server:
        loads, memory = run(server, request.config.getoption("--load-seconds"))
        healthy = httpx.get(f"http://{server.host}:{server.port}/readyz", timeout=30).status_code
    capacity = loads[1].rate
    for times, load in loads.items():
        late = " ".join(f"p{100 * at:.0f} {load.percentile(at):.2f} s" for at in (0.5, 0.99))
        print(
            f"{times} x capacity: {load.rate:.1f} answers/s ({load.rate / capacity:.0%}), {late}, {dict(load.statuses)}"
        )
        share = load.rate_of_core / loads[1].rate_of_core
        print(f"   {load.rate_of_core:.1f} answers a second of a core ({share:.0%})")
        print(f"   {load.strangers} strangers, {load.different} with other links than alone")
    print(f"resident: {memory[0]:.0f} MB at first, {max(memory):.0f} MB at most, {memory[-1]:.0f} MB at the end")
    for times, load in loads.items():
        assert load.statuses.keys() <= {"200", "503"}, times
        assert load.strangers == 0
        assert load.different <= SPREAD * len(load.latencies)
        assert load.percentile(0.99) < 5.0, times
        goodput = max(load.rate / capacity, load.rate_of_core / loads[1].rate_of_core)  # the machine may be shared
        assert goodput >= 0.9, times
    assert healthy == 200
    assert max(memory) <= 1.1 * memory[0]


HALF = b"POST /v1/link HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"


@pytest.mark.parametrize(("number", "sent"), [(700, HALF), (2_100, b"")], ids=["half-sent posts", "silence"])
def test_connections_that_keep_us_waiting_shut_nobody_out(tmp_path: Path, number: int, sent: bytes) -> None:
    key = "a-key-that-nobody-guesses"
    with serve(tmp_path, "--api-key", key) as server, ExitStack() as stack:
        address = f"http://{server.host}:{server.port}"
        for _ in range(number):
            connection = stack.enter_context(socket.create_connection((server.host, server.port), timeout=30))
            connection.sendall(sent)
        for _ in range(10):
            assert httpx.get(f"{address}/healthz", timeout=30).status_code == 200
            answer = httpx.post(
                f"{address}/v1/link", json={"text": "Kent won."}, headers={"x-api-key": key}, timeout=30
            )
            assert answer.status_code == 200
