"""Pack and unpack a stream as the suffix of its name says: `.gz`, `.bz2` and `.zst`."""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from parlink.data.bzip2 import unpack_bzip2
from parlink.errors import ParlinkError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

try:
    import zstandard
except ImportError:
    zstandard = None  # type: ignore[assignment]

COMPRESSED = (".gz", ".bz2", ".zst")
BROKEN = (EOFError, OSError, zlib.error) + ((zstandard.ZstdError,) if zstandard else ())

_CHUNK = 2048  # bytes of .zst at a time, which unpack to some dozen MB at the very worst


def decompress(raw: BinaryIO, path: Path | str) -> AbstractContextManager[BinaryIO]:
    """Unpack what is read; a stream that was cut off raises one of `BROKEN`."""
    suffix = Path(path).suffix
    if suffix == ".gz":
        return cast(AbstractContextManager[BinaryIO], gzip.GzipFile(fileobj=raw, mode="rb"))
    if suffix == ".bz2":
        return unpack_bzip2(raw)
    if suffix == ".zst":
        return io.BufferedReader(_ZstandardReader(raw, path))
    return nullcontext(raw)


def compress(raw: BinaryIO, path: Path | str) -> AbstractContextManager[BinaryIO]:
    """Pack what is written, with neither time nor name in it, so that the same content is the same bytes."""
    suffix = Path(path).suffix
    if suffix == ".gz":
        packed = gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0)
        return cast(AbstractContextManager[BinaryIO], packed)
    if suffix == ".bz2":
        return cast(AbstractContextManager[BinaryIO], bz2.BZ2File(raw, "wb"))
    if suffix == ".zst":
        _check_zstandard(path)
        writer = zstandard.ZstdCompressor().stream_writer(raw, closefd=False)
        return cast(AbstractContextManager[BinaryIO], writer)
    return nullcontext(raw)


class _ZstandardReader(io.RawIOBase):
    """All frames of a `.zst` file; zstandard's own reader takes one that was cut off for a whole one."""

    def __init__(self, raw: BinaryIO, path: Path | str) -> None:
        _check_zstandard(path)
        self._raw = raw
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._started, self._unpacked, self._packed = False, memoryview(b""), b""

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill some of the buffer, as `RawIOBase` has it."""
        while not self._unpacked:
            packed = self._packed or self._raw.read(_CHUNK)
            if not packed and self._started:
                raise EOFError("the last frame ends too early")
            if not packed:
                return 0
            self._started = True
            self._unpacked = memoryview(self._frame.decompress(packed))
            self._packed = self._frame.unused_data
            if self._frame.eof:
                self._frame, self._started = zstandard.ZstdDecompressor().decompressobj(), False
        view = memoryview(buffer)
        size = min(len(view), len(self._unpacked))
        view[:size], self._unpacked = self._unpacked[:size], self._unpacked[size:]
        return size


def _check_zstandard(path: Path | str) -> None:
    if zstandard is None:
        raise ParlinkError(f"{path}: .zst files need zstandard; install parlink[formats]")
