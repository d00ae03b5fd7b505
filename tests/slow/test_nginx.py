"""Two services behind nginx, by the block of docs/serving.md: they share the work and one knowledge base in memory."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

from page_service import make_model

BLOCK = re.compile(r"^```nginx\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGE = Path(__file__).parents[2] / "docs" / "serving.md"
PATIENCE = 300  # seconds, on a machine that is busy


@contextmanager
def running(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, env=os.environ | {"OMP_NUM_THREADS": "1"})
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def configure(folder: Path, front: int, ports: list[int]) -> Path:
    """The block of the page, with a certificate of our own and other ports."""
    files = {name: folder / name for name in ("parlink.pem", "parlink.key")}
    certificate = ["-newkey", "rsa:2048", "-nodes", "-keyout", files["parlink.key"], "-out", files["parlink.pem"]]
    subject = ["-subj", "/CN=localhost", "-days", "1"]
    subprocess.run(["openssl", "req", "-x509", *certificate, *subject], check=True, capture_output=True)
    found = BLOCK.search(PAGE.read_text())
    assert found is not None
    block = found[1].replace("443", f"127.0.0.1:{front}").replace("/etc/ssl", str(folder))
    for number, port in enumerate(ports, start=8001):
        assert f":{number} " in block
        block = block.replace(f":{number} ", f":{port} ")
    places = [f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")]
    user = "user root;" if os.geteuid() == 0 else ""
    head = f"{user} daemon off; pid {folder}/pid; error_log {folder}/errors; events {{}}"
    path = folder / "nginx.conf"
    path.write_text(f"{head}\nhttp {{ access_log off; {' '.join(places)}\n{block}}}\n")
    return path


def ask(address: str, data: bytes | None = None) -> bytes:
    """Ask until there is an answer, as a service may still be starting."""
    trust = ssl._create_unverified_context() if address.startswith("https") else None
    end = time.monotonic() + PATIENCE
    while True:
        try:
            with urlopen(Request(address, data, {"Content-Type": "application/json"}), context=trust) as answer:
                return bytes(answer.read())
        except URLError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def linked_by(port: int) -> float:
    metrics = ask(f"http://127.0.0.1:{port}/metrics").decode()
    return sum(float(count) for count in re.findall(r'^parlink_documents_total\{outcome="\w+"\} (\S+)', metrics, re.M))


def mapped(process: int, folder: Path) -> tuple[set[str], int]:
    """The files of a folder that a process has mapped, and the bytes of them that it holds for itself alone."""
    names, own, inside = set(), 0, False
    for line in Path(f"/proc/{process}/smaps").read_text().splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            path = line.split(maxsplit=5)[5:]
            inside = bool(path) and path[0].startswith(f"{folder}/")
            names |= {Path(path[0]).name} if inside else set()
        elif inside and line.startswith(("Private_Dirty:", "Anonymous:")):
            own += int(line.split()[1])
    return names, own


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed: apt-get install nginx-light")
def test_two_services_behind_nginx_share_the_work_and_the_knowledge_base(tmp_path: Path) -> None:
    model = make_model(tmp_path / "model")
    front, *ports = (free_port() for _ in range(3))
    with ExitStack() as stack:
        services = []
        for port in ports:
            command = [sys.executable, "-m", "parlink", "serve", "--model", str(model), "--port", str(port)]
            services.append(stack.enter_context(running(command, tmp_path / f"{port}.log")))
        for port in ports:
            ask(f"http://127.0.0.1:{port}/readyz")
        stack.enter_context(running(["nginx", "-c", str(configure(tmp_path, front, ports))], tmp_path / "nginx.log"))
        body = json.dumps({"id": "7", "text": "Kent beat HSV."}).encode()
        answers = {ask(f"https://127.0.0.1:{front}/v1/link", body) for _ in range(10)}
        assert len(answers) == 1 and json.loads(answers.pop())["links"]
        assert all(linked_by(port) > 0 for port in ports)
        (names, own), (others, others_own) = (mapped(service.pid, model / "kb") for service in services)
        assert names == others and names
        assert own == others_own == 0
        services[0].send_signal(signal.SIGKILL)
        services[0].wait()
        assert all(json.loads(ask(f"https://127.0.0.1:{front}/v1/link", body))["links"] for _ in range(4))
