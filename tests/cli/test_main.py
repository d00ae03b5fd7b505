"""What the command line does with what it cannot read or write: one line on stderr, and exit code 1."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from parlink.cli.main import app
from parlink.errors import ConfigError
from parlink.settings import parse, read_toml
from parlink.train_config import TrainConfig

DEEP = '{"text": "a", "x": ' + "[" * 100_000 + "]" * 100_000 + "}\n"
needs_dev_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")


@pytest.mark.parametrize(
    ("command", "said", "threads"), [("link", None, "1"), ("link", "3", "3"), ("kb", None, "1"), ("train", None, None)]
)
def test_commands_compute_on_one_thread_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, command: str, said: str | None, threads: str | None
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", said or "")
    if said is None:
        monkeypatch.delenv("OMP_NUM_THREADS")
    assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0
    assert os.environ.get("OMP_NUM_THREADS") == threads


def run(*arguments: object, stdout: int | None = subprocess.PIPE) -> str:
    """Run a command that must fail, and return the one line that it prints."""
    command: list[str | bytes] = [sys.executable, "-m", "parlink"]
    command += [os.fsencode(argument) if isinstance(argument, Path) else argument for argument in arguments]  # type: ignore[misc]
    result = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 1, result.stderr
    error = result.stderr[result.stderr.index("error: ") :]
    assert error.count("\n") == 1
    assert "Traceback" not in result.stderr
    assert "Exception ignored" not in result.stderr
    return error


@needs_dev_full
def test_a_full_standard_output_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        assert "No space left" in run("data", "convert", tmp_path / "a.jsonl", "-o", "-", stdout=full.fileno())
        assert "No space left" in run("--version", stdout=full.fileno())


@needs_dev_full
def test_a_full_output_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    error = run("data", "convert", tmp_path / "a.jsonl", "-o", "/dev/full", "--to", "jsonl")
    assert "/dev/full: cannot be written (No space left on device)" in error


def test_json_that_is_nested_too_deeply_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "deep.jsonl").write_text(DEEP)
    assert "deep.jsonl:1: " in run("data", "convert", tmp_path / "deep.jsonl", "-o", tmp_path / "b.jsonl")
    assert "deep.jsonl:1: " in run("kb", "build", tmp_path / "deep.jsonl", "-o", tmp_path / "kb")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep.jsonl"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", json.dumps({"title": "Ke\0nt"})),
        ("a.jsonl", json.dumps({"title": "Kent", "aliases": ["K\0"]})),
        ("a.jsonl", json.dumps({"text": "Kent", "links": [{"start": 0, "end": 4, "title": "Ke\0nt"}]})),
        ("a.txt", "Ke\0nt"),
        ("a.csv", "title\nKe\0nt\n"),
    ],
)
def test_a_nul_in_a_title_is_one_line(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content + "\n")
    assert "NUL" in run("kb", "build", tmp_path / name, "-o", tmp_path / "kb")


def test_arguments_that_are_not_utf8_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"title": "Kent"}\n')
    subprocess.run(
        [sys.executable, "-m", "parlink", "kb", "build", tmp_path / "a.jsonl", "-o", tmp_path / "kb"],
        check=True,
        capture_output=True,
    )
    assert "not valid Unicode" in run("kb", "add", tmp_path / "kb", b"A\xff")
    assert "cannot be read" in run("data", "convert", b"\xff.jsonl", "-o", tmp_path / "b.jsonl")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**30, -(10**30)])
def test_odd_numbers_in_a_config_are_named(value: float) -> None:
    data = {"stages": [{"data": ["a.jsonl"], "learning_rate": value}]}
    with pytest.raises(ConfigError, match=r"c\.toml: stages\.0\.learning_rate is "):
        parse(data, TrainConfig, source="c.toml")


@pytest.mark.parametrize("content", [b'output = "\xff"', b"a = " + 100_000 * b"["], ids=["no UTF-8", "nested deeply"])
def test_a_config_that_no_parser_takes_is_one_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "c.toml").write_bytes(content)
    with pytest.raises(ConfigError, match=r"c\.toml: not valid TOML"):
        read_toml(tmp_path / "c.toml")
