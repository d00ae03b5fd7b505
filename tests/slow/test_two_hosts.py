"""Training on two hosts, which are network namespaces: one is cut off in mid-run, and the run goes on later."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tiny_training import tiny_settings, toml

HOSTS = ("parlink-a", "parlink-b")
CARDS = ("parlink-veth-a", "parlink-veth-b")
ADDRESSES = ("10.77.0.1", "10.77.0.2")
STEPS = 24
PATIENCE = 600  # seconds, on a machine that is busy


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


@pytest.fixture
def network() -> Iterator[None]:
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("network namespaces need root and iproute2: apt-get install iproute2")
    remove_hosts()
    try:
        for host in HOSTS:
            ip("netns", "add", host)
        ip("link", "add", CARDS[0], "netns", HOSTS[0], "type", "veth", "peer", "name", CARDS[1], "netns", HOSTS[1])
        for host, card, address in zip(HOSTS, CARDS, ADDRESSES, strict=True):
            ip("-n", host, "address", "add", f"{address}/24", "dev", card)
            ip("-n", host, "link", "set", card, "up")
            ip("-n", host, "link", "set", "lo", "up")
    except subprocess.CalledProcessError as error:
        remove_hosts()
        pytest.skip(f"no network namespaces here: {error.stderr.strip()}")
    yield
    remove_hosts()


def remove_hosts() -> None:
    for host in HOSTS:
        subprocess.run(["ip", "netns", "delete", host], capture_output=True)


@contextmanager
def training(folder: Path, *more: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start a process on each host; in the end nothing of them is left."""
    running = []
    try:
        for number, (host, card) in enumerate(zip(HOSTS, CARDS, strict=True)):
            torchrun = ["torch.distributed.run", "--nnodes=2", f"--node-rank={number}", "--nproc-per-node=1"]
            where = [f"--master-addr={ADDRESSES[0]}", "--master-port=29500"]
            train = ["-m", "parlink", "train", str(folder / "train.toml"), *more]
            command = ["ip", "netns", "exec", host, sys.executable, "-m", *torchrun, *where, *train]
            with (folder / f"{host}.log").open("ab") as log:
                variables = os.environ | {"GLOO_SOCKET_IFNAME": card}
                running.append(subprocess.Popen(command, env=variables, stdout=log, stderr=log, start_new_session=True))
        yield running
    finally:
        for process in running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def prepare(folder: Path, shared: Path) -> Path:
    settings = tiny_settings(
        shared, output=str(folder / "run"), checkpoint_minutes=0, timeout_minutes=0.5, validate_steps=12
    )
    settings["stages"][0]["steps"] = STEPS
    folder.mkdir()
    (folder / "train.toml").write_text(toml(settings))
    return folder


def steps_done(folder: Path) -> int:
    log = folder / "run" / "log.jsonl"
    return log.read_bytes().count(b'"losses"') if log.exists() else 0


def wait_for_all(running: list[subprocess.Popen[bytes]], folder: Path) -> list[int]:
    """The codes with which the hosts end, or what they wrote, if they do not."""
    try:
        return [process.wait(timeout=PATIENCE) for process in running]
    except subprocess.TimeoutExpired:
        pytest.fail("\n".join((folder / f"{host}.log").read_text()[-3000:] for host in HOSTS))


@pytest.mark.slow
@pytest.mark.usefixtures("network")
def test_a_host_that_is_cut_off_and_comes_back_changes_no_weight(tmp_path: Path) -> None:
    whole, cut = (prepare(tmp_path / name, tmp_path / "shared") for name in ("whole", "cut"))
    with training(whole) as running:
        assert wait_for_all(running, whole) == [0, 0], (whole / f"{HOSTS[0]}.log").read_text()[-3000:]
    with training(cut) as running:
        end = time.monotonic() + PATIENCE
        while steps_done(cut) < STEPS // 4 and time.monotonic() < end and running[0].poll() is None:
            time.sleep(0.01)
        ip("-n", HOSTS[1], "link", "set", CARDS[1], "down")
        codes = wait_for_all(running, cut)
    done = steps_done(cut)
    assert 0 not in codes and 0 < done < STEPS, (codes, done)
    assert "another process has stopped" in (cut / f"{HOSTS[0]}.log").read_text()
    ip("-n", HOSTS[1], "link", "set", CARDS[1], "up")
    with training(cut, "--resume") as running:
        assert wait_for_all(running, cut) == [0, 0], (cut / f"{HOSTS[0]}.log").read_text()[-3000:]
    last = f"run/checkpoint/model-{STEPS}.safetensors"
    assert (cut / last).read_bytes() == (whole / last).read_bytes()
    print(f"cut off after {done} of {STEPS} steps")
