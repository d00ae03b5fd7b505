"""The 8-bit kernel is tried where it may crash, and once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from parlink.checkpoint.int8_kernel import (
    LIMIT,
    WITHOUT_AMX,
    _ask,
    answer_file,
    avoid_crash,
    find_token_bits,
    try_kernel,
)


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("PARLINK_CACHE", str(tmp_path))
    _ask.cache_clear()
    yield tmp_path
    _ask.cache_clear()


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("print(7)", "7"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGILL)", "crash"),
        ("raise MemoryError", None),
    ],
)
def test_a_crash_is_an_answer_and_a_failure_is_none(code: str, answer: str | None) -> None:
    assert try_kernel([sys.executable, "-S", "-c", code]) == answer


def test_a_probe_that_cannot_be_started_is_no_answer() -> None:
    assert try_kernel(["no-such-program"]) is None


@pytest.mark.parametrize(("kept", "bits"), [("8", 8), ("7", 7), ("0", None), ("", None), ("x", None), ("crash", None)])
def test_what_was_found_is_not_tried_again(empty_cache: Path, kept: str, bits: int | None) -> None:
    answer_file().parent.mkdir(parents=True)
    answer_file().write_text(kept)
    assert find_token_bits() == bits
    assert answer_file().is_relative_to(empty_cache)


def test_limits_of_the_kernels_have_answers_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA", raising=False)
    before = answer_file()
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "SSE41")
    assert answer_file() != before


@pytest.mark.parametrize(("kept", "limit"), [("8", None), ("0", None), ("crash", WITHOUT_AMX)])
def test_what_crashes_is_avoided(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch, kept: str, limit: str | None
) -> None:
    monkeypatch.setenv(LIMIT, "")
    monkeypatch.delenv(LIMIT)  # so that it is as it was after the test
    answer_file().parent.mkdir(parents=True)
    answer_file().write_text(kept)
    avoid_crash()
    assert os.environ.get(LIMIT) == limit


def test_what_the_environment_says_is_left_as_it_is(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, "AVX2")
    answer_file().parent.mkdir(parents=True)
    answer_file().write_text("crash")
    avoid_crash()
    assert os.environ[LIMIT] == "AVX2"


@pytest.mark.slow
def test_the_answer_is_kept(empty_cache: Path) -> None:
    bits = find_token_bits()
    assert answer_file().read_text() in ({str(bits)} if bits else {"0", "crash"})
