"""Read bzip2 files to the end: the standard library's reader drops what follows a stream if its head is damaged."""

from __future__ import annotations

import io
from bz2 import BZ2Decompressor
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_CHUNK = 1 << 18


class _Bzip2Reader(io.RawIOBase):
    """One stream after the other, as parallel compressors and Wikipedia write them, in bounded memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._unpacker = BZ2Decompressor()
        self._is_between = True  # two streams, where a file may end

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill a buffer; OSError for damaged bytes, EOFError where the file ends within a stream."""
        view = memoryview(buffer).cast("B")
        data = b""
        while not data:
            packed = b""
            if self._unpacker.eof:
                packed = self._unpacker.unused_data
                self._unpacker, self._is_between = BZ2Decompressor(), True
            if self._unpacker.needs_input and not packed:
                packed = self._file.read(_CHUNK)
            if self._unpacker.needs_input and not packed:
                if self._is_between:
                    return 0
                raise EOFError("the bzip2 file ends within a stream")
            self._is_between = self._is_between and not packed
            data = self._unpacker.decompress(packed, max_length=len(view))
        view[: len(data)] = data
        return len(data)


def unpack_bzip2(raw: BinaryIO) -> BinaryIO:
    """Unpack what is read."""
    return cast(BinaryIO, io.BufferedReader(_Bzip2Reader(raw), _CHUNK))
