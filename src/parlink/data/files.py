"""Open data files by name: compressed by suffix, `-` for the standard streams, outputs renamed when complete."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, cast

from parlink.errors import DataFormatError, ParlinkError

try:
    import zstandard
except ImportError:
    zstandard = None  # type: ignore[assignment]

STANDARD_STREAM = "-"
COMPRESSED = (".gz", ".bz2", ".zst")

BROKEN = (EOFError, OSError, zlib.error) + ((zstandard.ZstdError,) if zstandard else ())


@contextmanager
def opened(path: Path | str) -> Iterator[BinaryIO]:
    """Open for reading; `.gz`, `.bz2` and `.zst` are unpacked, `-` is standard input."""
    if str(path) == STANDARD_STREAM:
        yield sys.stdin.buffer
        return
    try:
        file = _open(Path(path), "rb", Path(path).suffix)
    except OSError as error:
        raise DataFormatError(f"cannot be read ({error.strerror}); give the path of a data file", path=path) from error
    with file:
        yield file


def lines(path: Path | str) -> Iterator[tuple[int, bytes]]:
    """Yield every line that is not blank with its number, counted from 1; a byte order mark is dropped."""
    number = 0
    with opened(path) as file:
        try:
            for number, line in enumerate(file, start=1):
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)
                if not line.isspace():
                    yield number, line
        except BROKEN as error:
            message = f"the compressed file is broken or cut off ({error}); fetch or write it again"
            raise DataFormatError(message, path=path, line=number + 1) from error


def decoded(raw: bytes, *, path: Path | str, line: int) -> str:
    """Decode a line of UTF-8 without its line end."""
    try:
        return raw.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataFormatError(f"not UTF-8: {error}; convert the file to UTF-8", path=path, line=line) from error


@contextmanager
def written(path: Path | str) -> Iterator[BinaryIO]:
    """Open for writing, compressed by suffix: to a temporary name that is renamed at the end, removed on failure."""
    if str(path) == STANDARD_STREAM:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    check_name(path)
    target = Path(path)
    if target.exists() and not target.is_file():  # a device or a pipe has no name to rename to
        with target.open("wb") as device:
            yield device
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with _created(temporary, target) as file:
            yield file
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def check_name(path: Path | str | None) -> None:
    """Refuse the name of a folder for an output, which is better done before the work than after it."""
    if path is not None and Path(path).is_dir():
        raise ParlinkError(f"{path}: is a folder; give the name of a file")


def _created(temporary: Path, target: Path) -> BinaryIO:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        return _open(temporary, "wb", target.suffix)
    except OSError as error:
        raise ParlinkError(f"{target}: cannot be written ({error.strerror}); choose another output") from error


def _open(path: Path, mode: Literal["rb", "wb"], suffix: str) -> BinaryIO:
    if suffix == ".gz":
        return cast(BinaryIO, gzip.GzipFile(path, mode, compresslevel=6, mtime=0))
    if suffix == ".bz2":
        return cast(BinaryIO, bz2.BZ2File(path, mode))
    if suffix == ".zst":
        return _zstandard(path, mode)
    return path.open(mode)


def _zstandard(path: Path, mode: Literal["rb", "wb"]) -> BinaryIO:
    if zstandard is None:
        raise ParlinkError(f"{path}: .zst files need zstandard; install parlink[formats]")
    file = cast(io.RawIOBase, zstandard.open(path, mode))
    return cast(BinaryIO, io.BufferedReader(file) if mode == "rb" else file)  # its own reader knows no lines
