"""Bars: late, on terminals only, and by themselves only where a person types."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

from parlink import bars
from parlink.checkpoint.folder import save_checkpoint
from parlink.linking.linker import Linker
from tiny_model import tiny_checkpoint

PROGRAM = """
import sys, time
from parlink import bars

bars.PATIENCE, pause = map(float, sys.argv[1:])
with bars.share_bar("linking") as progress:
    for step in range(3):
        progress(step / 2)
        time.sleep(pause)
with bars.spinner("checking"):
    time.sleep(pause)
with bars.document_bar(3, "reading") as progress:
    for step in range(3):
        progress(1)
        time.sleep(pause)
"""


def show(*, patience: float, pause: float) -> str:
    """Run the program on a terminal, and return what was shown there."""
    terminal, end = pty.openpty()
    command = [sys.executable, "-c", PROGRAM, str(patience), str(pause)]
    with subprocess.Popen(command, stderr=end, env=os.environ | {"TERM": "xterm"}) as process:
        os.close(end)
        shown = b""
        while process.poll() is None or select.select([terminal], [], [], 0)[0]:
            try:
                shown += os.read(terminal, 10_000)
            except OSError:  # the other end is closed
                break
    os.close(terminal)
    assert process.returncode == 0
    return shown.decode()


def test_a_bar_is_shown_on_a_terminal_once_the_work_has_taken_a_while() -> None:
    shown = show(patience=0.001, pause=0.5)
    assert "linking" in shown and "100%" in shown
    assert "reading" in shown and "3/3" in shown
    assert "checking" in shown
    assert "\x1b[1A\x1b[2K" in shown.rpartition("checking")[2].partition("reading")[0]  # up, and its line is taken away
    assert show(patience=60, pause=0) == ""


def test_nothing_is_shown_where_standard_error_is_no_terminal() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, "0.001", "0.5"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == done.stderr == ""


def test_a_linker_has_a_bar_only_where_a_person_types(monkeypatch: pytest.MonkeyPatch) -> None:
    linker, started = Linker(tiny_checkpoint(seed=3)), list[str]()
    monkeypatch.setattr(bars.LateBars, "__enter__", lambda bar: started.append("a bar") or bar)
    linked = linker.link(["Paris", "Kent"])
    assert not started
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert linker.link(["Paris", "Kent"]) == linked
    assert started


def test_opening_a_model_has_a_spinner_only_where_a_person_types(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shown = list[str]()
    monkeypatch.setattr(bars.LateBars, "add_task", lambda _bar, what, **_total: shown.append(what))
    save_checkpoint(tmp_path, tiny_checkpoint(seed=3), card="")
    Linker.load(tmp_path)
    assert not shown
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    Linker.load(tmp_path)
    assert shown == ["opening the model"]
