"""The service with batching beside the same one without: throughput and latency for 1 and 32 clients.

    python benchmarks/serve.py --model MODEL --kb KB [--seconds 10] [--rounds 3]
    python benchmarks/serve.py --model MODEL --kb KB --overload 60

Each server is a process of its own, and this process is the load generator: clients with a connection each, that ask
again as soon as they are answered. The two servers take turns, so that a busy machine slows both. `--overload` sends
requests at twice the rate that 32 clients reached, whether or not they are answered, and prints the server's memory.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

NAMES = ("Hamburg", "Kent", "Jordan", "New York", "Zürich", "Mercury", "Paris", "Leicester", "Dresden", "Japan")
SENTENCES = (
    "{} beat {} on Saturday, and the coach praised the young goalkeeper.",
    "The minister flew from {} to {} to talk about fish and steel.",
    "A train from {} to {} was late because of snow.",
    "Shares rose in {} after the bank of {} had cut its rate.",
)
BATCHES = {"without batching": 1, "with batching": 32}


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


@contextmanager
def served(model: str, kb: str, *, batch: int, patience: float = 2.0) -> Iterator[Server]:
    words = [
        sys.executable,
        "-m",
        "parlink",
        "serve",
        "--model",
        model,
        "--kb",
        kb,
        "--port",
        "0",
        "--batch",
        str(batch),
        "--patience",
        str(patience),
    ]
    with tempfile.NamedTemporaryFile("wb") as log:
        process = subprocess.Popen(words, stderr=log)
        try:
            while "startup complete" not in (said := Path(log.name).read_text()):
                if process.poll() is not None:
                    sys.exit(said)
                time.sleep(0.1)
            found = re.search(r"parlink is at (\S+)", said)
            assert found is not None
            place = urlsplit(found[1])
            yield Server(process, place.hostname or "", place.port or 0)
        finally:
            process.terminate()
            process.wait()


def requests(seed: int) -> Iterator[bytes]:
    """Yield requests for short texts, in an order that is always the same."""
    rng = random.Random(seed)
    while True:
        raw = json.dumps({"text": rng.choice(SENTENCES).format(*rng.sample(NAMES, 2))}).encode()
        head = (
            f"POST /v1/link HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(raw)}"
        )
        yield head.encode() + b"\r\n\r\n" + raw


@dataclass(slots=True)
class Connection:
    """One HTTP connection that is kept open."""

    server: Server
    streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> int:
        """Send a request, read the whole answer, and return its status."""
        if self.streams is None:
            self.streams = await asyncio.open_connection(self.server.host, self.server.port)
        reader, writer = self.streams
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = re.search(rb"content-length: (\d+)", head)
        await reader.readexactly(int(length[1]) if length else 0)
        if b"connection: close" in head:
            self.close()
        return int(head.split(b" ", 2)[1])

    def close(self) -> None:
        """Hang up."""
        if self.streams is not None:
            self.streams[1].close()
        self.streams = None


@dataclass(slots=True)
class Load:
    """What clients saw."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Requests answered a second."""
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        """Milliseconds within which this share of the requests was answered."""
        return 1000 * sorted(self.latencies)[min(int(share * len(self.latencies)), len(self.latencies) - 1)]


async def closed_loop(server: Server, clients: int, seconds: float, load: Load) -> None:
    """Let clients ask, each again as soon as it is answered."""
    began = time.perf_counter()

    async def client(seed: int) -> None:
        connection = Connection(server)
        for request in requests(seed):
            start = time.perf_counter()
            if start - began > seconds:
                break
            status = await connection.ask(request)
            assert status == 200, status
            load.latencies.append(time.perf_counter() - start)
        connection.close()

    await asyncio.gather(*(client(seed) for seed in range(clients)))
    load.seconds += time.perf_counter() - began


async def open_loop(server: Server, rate: float, seconds: float) -> Counter[str]:
    """Send requests at a rate, whatever becomes of them."""
    counts: Counter[str] = Counter()
    idle: list[Connection] = []
    tasks: set[asyncio.Task[None]] = set()

    async def one(request: bytes) -> None:
        connection = idle.pop() if idle else Connection(server)
        try:
            counts[str(await connection.ask(request))] += 1
            idle.append(connection)
        except (OSError, asyncio.IncompleteReadError) as error:
            counts[type(error).__name__] += 1
            connection.close()

    began, sent, shown = time.perf_counter(), 0, 0.0
    source = requests(0)
    while (now := time.perf_counter() - began) < seconds:
        while sent < now * rate:
            task = asyncio.create_task(one(next(source)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            sent += 1
        if now >= shown:
            print(f"  {now:4.0f} s: {server.megabytes:7.1f} MB resident, {len(tasks)} unanswered", flush=True)
            shown += seconds / 6
        await asyncio.sleep(0.002)
    await asyncio.gather(*tasks)
    for connection in idle:
        connection.close()
    return counts


def compare(model: str, kb: str, *, seconds: float, rounds: int) -> None:
    with ExitStack() as stack:
        servers = {  # which answer all, also on a slow machine
            name: stack.enter_context(served(model, kb, batch=batch, patience=30.0)) for name, batch in BATCHES.items()
        }
        for server in servers.values():
            asyncio.run(closed_loop(server, 8, 2.0, Load()))  # warm up
        for clients in (1, 32):
            loads = {name: Load() for name in servers}
            for _ in range(rounds):
                for name, server in servers.items():
                    asyncio.run(closed_loop(server, clients, seconds, loads[name]))
            for name, load in loads.items():
                times = " ".join(f"p{100 * share:.0f} {load.percentile(share):6.1f} ms" for share in (0.5, 0.95, 0.99))
                print(f"{clients:2} clients {name:>16}: {load.rate:7.1f} requests/s  {times}", flush=True)
            plain, batched = loads.values()
            faster, later = batched.rate / plain.rate, batched.percentile(0.5) / plain.percentile(0.5)
            print(
                f"{clients:2} clients, with / without batching: throughput {faster:.2f} x, p50 {later:.2f} x",
                flush=True,
            )


def overload(model: str, kb: str, *, seconds: float) -> None:
    with served(model, kb, batch=32) as server:
        asyncio.run(closed_loop(server, 8, 2.0, Load()))
        load = Load()
        asyncio.run(closed_loop(server, 32, 5.0, load))
        print(f"capacity {load.rate:.1f} requests/s; now {2 * load.rate:.1f} requests/s for {seconds:g} s")
        before = server.megabytes
        counts = asyncio.run(open_loop(server, 2 * load.rate, seconds))
        print(f"answers by status: {dict(sorted(counts.items()))}")
        print(f"resident: {before:.1f} MB at the start, {server.megabytes:.1f} MB at the end")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--kb", required=True)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--overload", type=float, help="seconds at twice the capacity, instead of the comparison")
    given = parser.parse_args()
    if given.overload is None:
        compare(given.model, given.kb, seconds=given.seconds, rounds=given.rounds)
    else:
        overload(given.model, given.kb, seconds=given.overload)


if __name__ == "__main__":
    main()
