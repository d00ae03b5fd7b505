"""What the pages say of containers and clusters is true, as far as it can be without either.

The steps of the Dockerfile are run as a script: what it copies is there, what it starts starts with folders that cannot
be written to, what it asks for its health answers, and it ends when it is told to. Nothing is built.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from parlink.checkpoint.folder import save_checkpoint
from tiny_kb import tiny_folder
from tiny_model import tiny_checkpoint

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "Dockerfile").read_text().splitlines()
KEY = "a-key-that-nobody-guesses"


def instructions(name: str) -> list[str]:
    return [line.removeprefix(f"{name} ") for line in LINES if line.startswith(f"{name} ")]


def test_what_is_copied_is_there_and_not_ignored() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = [name for line in instructions("COPY") if "--from" not in line for name in line.split()[:-1]]
    assert copied
    for name in copied:
        assert (ROOT / name).exists(), name
        assert name in kept, name


def test_what_is_built_comes_from_pinned_packages_and_the_image_has_no_compiler_and_no_rights() -> None:
    installs = [line for line in instructions("RUN") if "pip install" in line]
    assert installs
    assert all("--constraint constraints.txt" in line for line in installs)
    assert {line.split()[0] for line in instructions("FROM")} == {"python:3.11-slim"}
    assert int(instructions("USER")[-1]) > 0
    assert LINES.index("USER 10001") < next(n for n, line in enumerate(LINES) if line.startswith("ENTRYPOINT"))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def as_script(value: str, port: int) -> list[str]:
    """A command of the Dockerfile for this machine: this Python, and another port."""
    words = [word.replace("8000", str(port)) for word in json.loads(value)]
    return {"python": [sys.executable], "parlink": [sys.executable, "-m", "parlink"]}[words[0]] + words[1:]


def test_what_it_starts_is_healthy_and_ends_when_it_is_told_to(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "model", tiny_checkpoint(seed=3), card="")
    tiny_folder(tmp_path)
    for path in [tmp_path, *tmp_path.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    port = free_port()
    (entry,) = instructions("ENTRYPOINT")
    health = re.search(r"CMD (\[.*\])", instructions("HEALTHCHECK")[0])
    assert health is not None
    settings = dict(word.split("=", 1) for line in instructions("ENV") for word in shlex.split(line))
    environment = os.environ | {name: value for name, value in settings.items() if name != "PATH"}
    command = [*as_script(entry, port), "--model", str(tmp_path / "model"), "--kb", str(tmp_path / "kb")]
    process = subprocess.Popen(command, env=environment | {"PARLINK_API_KEY": KEY}, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while subprocess.run(as_script(health[1], port), stderr=subprocess.DEVNULL).returncode != 0:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) in (0, -signal.SIGTERM)
    finally:
        process.kill()
        process.wait()
        for path in tmp_path.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        tmp_path.chmod(0o755)


def test_without_a_key_the_container_does_not_start() -> None:
    (entry,) = instructions("ENTRYPOINT")
    environment = {name: value for name, value in os.environ.items() if name != "PARLINK_API_KEY"}
    done = subprocess.run(as_script(entry, 0), env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "--api-key" in done.stderr


def test_the_deployment_on_ray_links() -> None:
    source = (ROOT / "examples" / "ray_serve.py").read_text()
    compile(source, "ray_serve.py", "exec")
    pytest.importorskip("ray.serve", reason="Ray Serve is not installed")
    done = subprocess.run([sys.executable, "-c", RAY], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    (answer,) = (line for line in done.stdout.splitlines() if line.startswith("{"))  # Ray prints too
    assert [link["title"] for link in json.loads(answer)["links"]] == ["Paris"]


RAY = """
import json
from urllib.request import Request, urlopen
import ray
from ray import serve
from examples.ray_serve import Parlink
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
serve.run(Parlink.options(num_replicas=1).bind(), route_prefix="/link")
body = json.dumps({"text": "They met in Paris."}).encode()
with urlopen(Request("http://127.0.0.1:8000/link", body, {"content-type": "application/json"})) as answer:
    print(answer.read().decode())
serve.shutdown()
ray.shutdown()
"""
