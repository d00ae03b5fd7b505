"""Opening files: any place, any compression, whole or not at all, and one line for the user when it fails."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
import zstandard

from parlink.data import files, places
from parlink.errors import DataFormatError, ParlinkError

NAMES = ["a.txt", "a.txt.gz", "a.txt.bz2", "a.txt.zst"]
TEXT = b"one\n\ntwo\n" + bytes(range(256)) * 500


def write(path: Path | str, raw: bytes) -> None:
    with files.open_output(path) as file:
        file.write(raw)


def read(path: Path | str) -> bytes:
    with files.open_input(path) as file:
        return file.read()


@pytest.fixture
def remote() -> Iterator[str]:
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]
    yield "memory://bucket/folder"
    memory.store.clear()


@pytest.mark.parametrize("name", NAMES)
def test_remote_files(remote: str, name: str) -> None:
    write(f"{remote}/{name}", TEXT)
    assert read(f"{remote}/{name}") == TEXT
    assert read(Path(f"{remote}/{name}")) == TEXT  # pathlib leaves one slash of two
    assert dict(files.lines(f"{remote}/{name}"))[3] == b"two\n"


def test_a_remote_output_is_there_only_when_it_is_complete(remote: str) -> None:
    with pytest.raises(ZeroDivisionError), files.open_output(f"{remote}/a.txt") as file:
        file.write(TEXT)
        _ = 1 / 0
    with pytest.raises(DataFormatError, match=r"memory://bucket/folder/a\.txt: cannot be read"):
        read(f"{remote}/a.txt")


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("s3://bucket/a b.jsonl", "s3://bucket/a b.jsonl"),
        (Path("hf://datasets/me/x.jsonl"), "hf://datasets/me/x.jsonl"),
        ("simplecache::https://h.example/x", "simplecache::https://h.example/x"),
        (Path("file:///tmp/x"), "file:///tmp/x"),
        ("/tmp/x", None),
        ("C:/x", None),
        ("folder/a:b", None),
        ("-", None),
    ],
)
def test_telling_remote_paths(path: Path | str, url: str | None) -> None:
    assert places.remote_url(path) == url


def test_a_protocol_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(DataFormatError, match="nosuch"):
        read("nosuch://a/b")
    with pytest.raises(ParlinkError, match="nosuch"):
        write("nosuch://a/b", TEXT)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_content_is_the_same_bytes(tmp_path: Path, name: str) -> None:
    raws = []
    for folder, seconds in (("a", 0), ("b", 1_000_000)):
        write(tmp_path / folder / name, TEXT)
        os.utime(tmp_path / folder / name, (seconds, seconds))
        raws.append((tmp_path / folder / name).read_bytes())
        assert str(os.getpid()).encode() not in raws[-1][:40]
        assert [path.name for path in (tmp_path / folder).iterdir()] == [name]
    assert raws[0] == raws[1]


def test_a_gzip_header_has_neither_time_nor_name(tmp_path: Path) -> None:
    write(tmp_path / "a.gz", TEXT)
    header = (tmp_path / "a.gz").read_bytes()[:10]
    assert header[3] == 0  # no flags: no name
    assert header[4:8] == bytes(4)  # no time


@pytest.mark.parametrize("name", NAMES[1:])
@pytest.mark.parametrize("cut", [3, 40, 400])
def test_a_compressed_file_that_was_cut_off_is_an_error(tmp_path: Path, name: str, cut: int) -> None:
    path = tmp_path / name
    write(path, os.urandom(10_000))
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(DataFormatError, match="broken or cut off"):
        list(files.lines(path))


def test_zstandard_frames_one_behind_the_other(tmp_path: Path) -> None:
    pieces = [b"first\n" * 1000, b"", b"second\n" * 100_000]
    (tmp_path / "a.zst").write_bytes(b"".join(zstandard.ZstdCompressor().compress(piece) for piece in pieces))
    assert read(tmp_path / "a.zst") == b"".join(pieces)
    (tmp_path / "a.zst").write_bytes(b"")
    assert read(tmp_path / "a.zst") == b""


def test_a_giant_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE", 1 << 20)
    path = tmp_path / "bomb.jsonl.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"fine\n")
        for _ in range(64):
            file.write(b" " * (1 << 20))
    with pytest.raises(DataFormatError, match=r"bomb\.jsonl\.gz:2: a line of more than 1 MB"):
        list(files.lines(path))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("size", [1, 1_000_000])
def test_a_full_device_is_one_line(size: int) -> None:
    with pytest.raises(ParlinkError, match=r"/dev/full: cannot be written \(No space left on device\)"):
        write("/dev/full", b"x" * size)


FULL = """
import os, resource, signal, sys
from parlink.data import files, places
from parlink.errors import ParlinkError
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
try:
    with files.open_output(sys.argv[1]) as file:
        for _ in range(300):
            file.write(os.urandom(1000))
except ParlinkError as error:
    print(error)
"""


@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_is_one_line_and_leaves_nothing_behind(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"before")
    result = subprocess.run([sys.executable, "-c", FULL, path], capture_output=True, text=True, check=True)
    assert result.stdout == f"{path}: cannot be written (File too large); make room, or choose another output\n"
    assert not result.stderr
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_with_a_zero_byte_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataFormatError, match="cannot be read"):
        read(f"{tmp_path}/a\0b")


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n\nb")))
    assert list(files.lines("-")) == [(1, b"a\n"), (3, b"b")]
