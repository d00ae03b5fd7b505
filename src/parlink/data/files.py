"""Open data files by name: compressed by suffix, `-` for the standard streams, `s3://` and the like by fsspec.

An output has its name only when it is complete: a local one is written beside it and renamed, a remote one is
written to the local disk and uploaded. A file of the same content is the same bytes every time, compressed or not.
"""

from __future__ import annotations

import codecs
import glob
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, BinaryIO, cast

from parlink.data import compression
from parlink.data.places import filesystem, remote_url
from parlink.errors import DataFormatError, ParlinkError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STANDARD_STREAM = "-"
BROKEN = compression.BROKEN  # what reading may raise half-way
MAX_LINE = 256 << 20  # bytes; a compressed file of a few kB can unpack to one line of gigabytes
MAX_WHOLE = 1 << 30  # bytes of a file that is read as a whole

_BUFFER = 1 << 17


@contextmanager
def open_input(path: Path | str) -> Iterator[BinaryIO]:
    """Open for reading; `.gz`, `.bz2` and `.zst` are unpacked, `-` is standard input."""
    if str(path) == STANDARD_STREAM:
        yield sys.stdin.buffer
        return
    try:
        raw = _open_raw(path)
    except (OSError, ImportError, ValueError) as error:  # ValueError: no such protocol, or a zero byte in the name
        reason = getattr(error, "strerror", None) or error
        raise DataFormatError(f"cannot be read ({reason}); give the path of a data file", path=path) from error
    with raw, compression.decompress(raw, path) as file:
        yield file


def lines(path: Path | str, *, blank: bool = False) -> Iterator[tuple[int, bytes]]:
    """Yield every line that is not blank, or every one, with its number from 1; a byte order mark is dropped."""
    number = 0
    with open_input(path) as file:
        try:
            for number, line in enumerate(iter(partial(file.readline, MAX_LINE + 1), b""), start=1):
                if len(line) > MAX_LINE:
                    message = f"a line of more than {MAX_LINE >> 20} MB; break the file into lines, one an entry"
                    raise DataFormatError(message, path=path, line=number)
                if blank or not line.isspace():
                    yield number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        except BROKEN as error:
            message = f"the compressed file is broken or cut off ({error}); fetch or write it again"
            raise DataFormatError(message, path=path, line=number + 1) from error


def content(path: Path | str) -> bytes:
    """Return all of a file that is no list of lines."""
    with open_input(path) as file:
        try:
            whole = file.read(MAX_WHOLE + 1)
        except BROKEN as error:
            message = f"the compressed file is broken or cut off ({error}); fetch or write it again"
            raise DataFormatError(message, path=path) from error
    if len(whole) > MAX_WHOLE:
        raise DataFormatError(f"holds more than {MAX_WHOLE >> 20} MB; give it as lines (.jsonl, .tsv)", path=path)
    return whole


def decode(raw: bytes, *, path: Path | str, line: int) -> str:
    """Decode a line of UTF-8 without its line end."""
    try:
        return raw.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataFormatError(f"not UTF-8: {error}; convert the file to UTF-8", path=path, line=line) from error


@contextmanager
def open_output(path: Path | str) -> Iterator[BinaryIO]:
    """Open for writing, compressed by suffix; the file has its name only at the end, and is not there on failure."""
    check_name(path)
    url, target = remote_url(path), Path(path)
    if str(path) == STANDARD_STREAM:
        with refuse("standard output"):
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
    elif url is not None:
        with TemporaryDirectory(prefix="parlink-") as folder:
            with _create(Path(folder) / "output", path) as file:
                yield file
            _upload(Path(folder) / "output", url)
    elif target.exists() and not target.is_file():  # a device or a pipe has no name to rename to
        with _create(target, path) as file:
            yield file
    else:
        temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        _remove_left_over(target)
        try:
            with _create(temporary, path) as file:
                yield file
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def _remove_left_over(target: Path) -> None:
    """Remove the temporary files of processes that were killed while they wrote the same output."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        number = left.name.removesuffix(".tmp").rpartition(".")[2]
        if number.isdecimal() and not _is_running(int(number)):
            left.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    if os.name != "posix":
        return True  # there, signal 0 would be sent
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # another user's
        return True
    return True


def stem(path: Path | str) -> str:
    """Return the name of a file without its folder, its suffix and that of its compression."""
    name = Path(path)
    return (name.with_suffix("") if name.suffix in compression.COMPRESSED else name).stem


def check_name(path: Path | str | None) -> None:
    """Refuse the name of a folder for an output, which is better done before the work than after it."""
    if path is not None and Path(path).is_dir():
        raise ParlinkError(f"{path}: is a folder; give the name of a file")


@contextmanager
def _create(place: Path, target: Path | str) -> Iterator[BinaryIO]:
    """Open `place` for the bytes of `target`, which names the compression and is named in errors."""
    with refuse(target):
        place.parent.mkdir(parents=True, exist_ok=True)
    with (
        _Output(place, target) as raw,
        io.BufferedWriter(raw, _BUFFER) as buffer,
        compression.compress(buffer, target) as file,
    ):
        yield file


class _Output(io.FileIO):
    """A file that is written; a full disk is an error for the user, wherever in the buffers above it is met."""

    def __init__(self, place: Path, target: Path | str) -> None:
        self._target = target
        with refuse(target):
            super().__init__(place, "wb")

    def write(self, data: ReadableBuffer, /) -> int:
        """Write some of the bytes, as `FileIO` does."""
        with refuse(self._target):
            return super().write(data)

    def close(self) -> None:
        """Close the file; some file systems say only now that they are full."""
        with refuse(self._target):
            super().close()


@contextmanager
def refuse(target: Path | str) -> Iterator[None]:
    """Turn an error of the file system into one for the user; a reader of our output that has gone is none."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        reason = getattr(error, "strerror", None) or error
        message = f"{target}: cannot be written ({reason}); make room, or choose another output"
        raise ParlinkError(message) from error


def _open_raw(path: Path | str) -> BinaryIO:
    if remote_url(path) is None:
        return Path(path).open("rb")
    place, name = filesystem(path)
    return cast(BinaryIO, place.open(name, "rb"))


def _upload(source: Path, url: str) -> None:
    with refuse(url):
        place, name = filesystem(url)
        place.put_file(str(source), name)
