"""Files that are damaged: it is told, memory is bounded, and what killed runs left is cleaned."""

from __future__ import annotations

import bz2
import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from parlink.data import files
from parlink.errors import DataFormatError


def test_a_bzip2_file_of_several_streams_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.bz2"
    path.write_bytes(b"".join(bz2.compress(b"%d\n" % n) for n in range(5)))
    assert [line for _, line in files.lines(path)] == [b"%d\n" % n for n in range(5)]


@pytest.mark.parametrize("place", ["head", "body"])
def test_a_damaged_stream_in_the_middle_is_an_error(tmp_path: Path, place: str) -> None:
    first, second, third = (bytearray(bz2.compress(os.urandom(5000).hex().encode() + b"\n")) for _ in range(3))
    second[0 if place == "head" else len(second) // 2] ^= 0xFF
    path = tmp_path / "a.txt.bz2"
    path.write_bytes(first + second + third)
    with pytest.raises(DataFormatError, match="broken"):
        list(files.lines(path))


def test_a_file_that_ends_in_a_stream_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.bz2"
    path.write_bytes(bz2.compress(b"a\n") + bz2.compress(b"b\n")[:-4])
    with pytest.raises(DataFormatError, match="cut off"):
        list(files.lines(path))


def test_an_empty_bzip2_file_has_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.bz2"
    path.write_bytes(b"")
    assert list(files.lines(path)) == []


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.bz2"])
def test_a_line_that_would_fill_the_memory_is_an_error(tmp_path: Path, name: str, monkeypatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE", 1000)
    pack = {".gz": gzip.compress, ".bz2": bz2.compress}.get(Path(name).suffix, bytes)
    path = tmp_path / name
    path.write_bytes(pack(b"short\n" + b"x" * 990 + b"\n" + b"x" * 1001))
    with pytest.raises(DataFormatError, match=r":3: a line of"):
        list(files.lines(path))


def test_a_whole_file_is_bounded_too(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(files, "MAX_WHOLE", 1000)
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b"x" * 1000))
    assert len(files.content(path)) == 1000
    path.write_bytes(gzip.compress(b"x" * 1001))
    with pytest.raises(DataFormatError, match="holds more than"):
        files.content(path)


def test_what_a_killed_run_left_is_cleaned_by_the_next(tmp_path: Path) -> None:
    code = "import os, sys; from parlink.data import files\nwith files.open_output(sys.argv[1]): os._exit(9)"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.txt")], check=False)
    (dead,) = tmp_path.iterdir()
    alive = tmp_path / f".a.txt.{os.getppid()}.tmp"
    other = tmp_path / dead.name.replace("a.txt", "b.txt")
    alive.touch()
    other.touch()
    with files.open_output(tmp_path / "a.txt") as file:
        file.write(b"x")
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "a.txt", alive, other])
