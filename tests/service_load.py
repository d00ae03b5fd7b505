"""A real `parlink serve` under load on this machine: clients that ask again as soon as they are answered, or at a rate.

Every request has a text and an id of its own, and its answer has to bring both back, with the links that the same
sentence got when it was asked alone.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

NAMES = ("Hamburg", "Kent", "Jordan", "New York", "Zürich", "Mercury", "Paris", "Leicester", "Dresden", "Japan")
SENTENCES = (
    "{} beat {} on Saturday, and the coach praised the young goalkeeper.",
    "The minister flew from {} to {} to talk about fish and steel.",
    "A train from {} to {} was late because of snow.",
    "Shares rose in {} after the bank of {} had cut its rate.",
)
TEXTS = [sentence.format(a, b) for sentence in SENTENCES for a in NAMES for b in NAMES if a != b]
Links = list[tuple[int, int, str | None]]


@dataclass(slots=True)
class Server:
    """A running `parlink serve`."""

    process: subprocess.Popen[bytes]
    host: str
    port: int

    @property
    def megabytes(self) -> float:
        """Resident memory of the process."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    @property
    def cpu_seconds(self) -> float:
        """Time that the process has had a core."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serve(folder: Path, *options: str) -> Iterator[Server]:
    """Serve the packaged model, or another that the options name, until the end of the block."""
    log = folder / "log"
    with log.open("wb") as file:
        process = subprocess.Popen([sys.executable, "-m", "parlink", "serve", "--port", "0", *options], stderr=file)
    try:
        while "startup complete" not in (said := log.read_text()):
            assert process.poll() is None, said
            time.sleep(0.1)
        address = re.search(r"parlink is at (\S+)", said)
        assert address is not None
        place = urlsplit(address[1])
        yield Server(process, place.hostname or "", place.port or 0)
    finally:
        process.terminate()
        process.wait(60)


@dataclass(slots=True)
class Connection:
    """One HTTP connection that is kept open."""

    server: Server
    streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, value: object) -> tuple[int, bytes]:
        """Ask for the links of a document, and return the status and the body of the answer."""
        if self.streams is None:
            self.streams = await asyncio.open_connection(self.server.host, self.server.port)
        reader, writer = self.streams
        body = json.dumps(value).encode()
        head = "POST /v1/link HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = re.search(r"content-length: (\d+)", head)
        answer = await reader.readexactly(int(length[1]) if length else 0)
        if "connection: close" in head:
            self.close()
        return int(head.split(" ", 2)[1]), answer

    def close(self) -> None:
        """Hang up."""
        if self.streams is not None:
            self.streams[1].close()
        self.streams = None


@dataclass(slots=True)
class Load:
    """What clients saw."""

    alone: list[Links]  # the links of each text, asked alone
    seconds: float = 0.0
    cpu_seconds: float = 0.0  # of the server
    latencies: list[float] = field(default_factory=list)  # of answers with status 200
    statuses: Counter[str] = field(default_factory=Counter)
    strangers: int = 0  # answers that are not those of the text asked for
    different: int = 0  # answers with other links than the text got alone: rounding, in batches of other lengths

    @property
    def rate(self) -> float:
        """Requests answered well a second."""
        return len(self.latencies) / self.seconds

    @property
    def rate_of_core(self) -> float:
        """Requests answered well a second that the server had a core: other programs do not slow that as much."""
        return len(self.latencies) / self.cpu_seconds

    def percentile(self, share: float) -> float:
        """Seconds within which this share of the accepted requests was answered."""
        return sorted(self.latencies)[min(int(share * len(self.latencies)), len(self.latencies) - 1)]

    async def ask(self, connection: Connection, number: int) -> int:
        """Send one request, take note of its answer, and return its status."""
        place = number % len(TEXTS)
        began = time.perf_counter()
        status, raw = await connection.ask({"id": str(number), "text": TEXTS[place]})
        self.statuses[str(status)] += 1
        if status == 200:
            self.latencies.append(time.perf_counter() - began)
            doc = json.loads(raw)
            self.strangers += (doc["id"], doc["text"]) != (str(number), TEXTS[place])
            self.different += shape(doc) != self.alone[place]
        return status


def shape(doc: dict[str, list[dict[str, int]]]) -> Links:
    """Where the links of an answer are, and to what."""
    return [(link["start"], link["end"], link["title"]) for link in doc["links"]]  # type: ignore[misc]


async def ask_alone(server: Server) -> list[Links]:
    """Ask for every text once, one after the other."""
    connection = Connection(server)
    answers = [await connection.ask({"text": text}) for text in TEXTS]
    connection.close()
    assert {status for status, _ in answers} == {200}
    return [shape(json.loads(raw)) for _, raw in answers]


async def press(server: Server, load: Load, *, clients: int, seconds: float) -> None:
    """Let clients ask, each again as soon as it is answered, or a second after it was refused, as it was told."""
    numbers, began = count(load.statuses.total()), time.perf_counter()

    async def client() -> None:
        connection = Connection(server)
        while time.perf_counter() - began < seconds:
            if await load.ask(connection, next(numbers)) == 503:
                await asyncio.sleep(1.0)
        connection.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    load.seconds += time.perf_counter() - began


async def flood(server: Server, load: Load, *, rate: float, seconds: float) -> None:
    """Send requests at a rate, whatever becomes of them."""
    idle: list[Connection] = []
    tasks: set[asyncio.Task[None]] = set()

    async def send(number: int) -> None:
        connection = idle.pop() if idle else Connection(server)
        try:
            await load.ask(connection, number)
            idle.append(connection)
        except (OSError, asyncio.IncompleteReadError) as error:
            load.statuses[type(error).__name__] += 1
            connection.close()

    numbers, sent, began = count(load.statuses.total()), 0, time.perf_counter()
    while (now := time.perf_counter() - began) < seconds:
        while sent < now * rate:
            task = asyncio.create_task(send(next(numbers)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            sent += 1
        await asyncio.sleep(0.002)
    load.seconds += time.perf_counter() - began
    await asyncio.gather(*tasks)
    for connection in idle:
        connection.close()
