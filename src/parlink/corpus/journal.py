"""The files of a run that is under way, written such that a kill at any moment loses the chunk in hand at most.

A chunk's documents and errors are appended to two files, and then a line to a third, which says how long the two now
are: what stands behind that length was not finished, and is cut off by the next run. A part that is whole is given
its name, and then a line says so.
"""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from parlink.corpus import tally
from parlink.corpus.chunks import Chunk
from parlink.corpus.job import LinkedChunk
from parlink.corpus.output import Output
from parlink.corpus.tally import Tally
from parlink.data import files
from parlink.errors import ParlinkError


class ChunkDone(msgspec.Struct, frozen=True, tag="chunk"):
    """A chunk is in the files, which have these lengths with it."""

    checksum: int
    documents: int  # bytes
    errors: int  # bytes
    closes: bool
    tally: dict[str, Any]


class PartDone(msgspec.Struct, frozen=True, tag="part"):
    """A part has its name."""

    losses: dict[str, int]


class AllDone(msgspec.Struct, frozen=True, tag="all"):
    """There are no more chunks."""


class Journal:
    """What a run has done so far."""

    def __init__(self, output: Output) -> None:
        folder = output.run_folder
        self._output = output
        self._records, self._documents, self._errors = (
            folder / name for name in ("done.jsonl", "documents.jsonl", "errors.jsonl")
        )
        self.tally, self.losses = Tally(), Counter[str]()
        self._checksums = array("L")  # one a chunk
        self._parts = self._size = self._errors_size = 0
        self._closes = self._is_whole = False
        for record in self._replay():
            self._note(record)

    @property
    def is_whole(self) -> bool:
        """Whether all chunks are in it, so that the input need not be read again."""
        return self._is_whole

    def recover(self) -> None:
        """Cut off what was not finished, and finish a part that was whole."""
        with files.refuse(self._output.path):
            if self._documents.exists() or not (self._closes or self._is_whole):
                _truncate(self._documents, self._size)
            if self._errors.exists() or not self._is_whole:
                _truncate(self._errors, self._errors_size)
            if self._closes and not self._is_whole:
                self._close_part()

    def skip(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """Pass over the chunks that are done, and make sure that they are the same as then."""
        for number, checksum in enumerate(self._checksums):
            chunk = next(chunks, None)
            if chunk is None or chunk.checksum != checksum:
                where = "the input" if chunk is None else f"{chunk.entries[0].path}:{chunk.entries[0].line or ''}"
                raise ParlinkError(
                    f"{where} has changed since the run began (chunk {number}); give the same input, or remove "
                    f"{self._records.parent} to begin anew"
                )
        return chunks

    def commit(self, linked: LinkedChunk) -> None:
        """Keep a linked chunk."""
        with files.refuse(self._output.path):
            size = _append(self._documents, linked.documents)
            errors_size = _append(self._errors, linked.errors)
            self._record(ChunkDone(linked.checksum, size, errors_size, linked.closes, linked.tally.to_json()))
            if linked.closes:
                self._close_part()

    def finish(self) -> None:
        """Give the last part its name, and the errors theirs."""
        with files.refuse(self._output.path):
            if not self._is_whole:
                self._record(AllDone())
            if self._size or not self._parts:
                self._close_part()
            self._publish_errors()

    def _close_part(self) -> None:
        losses: Counter[str] = Counter()
        if self._documents.exists():
            losses = self._output.publish(self._documents, self._parts)
        self._record(PartDone(losses))
        _truncate(self._documents, 0)

    def _publish_errors(self) -> None:
        if self._errors.exists() and self._errors_size:
            with files.open_output(self._output.errors) as file, self._errors.open("rb") as errors:
                while block := errors.read(1 << 20):
                    file.write(block)

    def remove(self) -> None:
        """Remove the files."""
        for path in (self._documents, self._errors, self._records):
            path.unlink(missing_ok=True)

    def _record(self, record: ChunkDone | PartDone | AllDone) -> None:
        _append(self._records, msgspec.json.encode(record) + b"\n")
        self._note(record)

    def _note(self, record: ChunkDone | PartDone | AllDone) -> None:
        if isinstance(record, ChunkDone):
            self._checksums.append(record.checksum)
            self._size, self._errors_size, self._closes = record.documents, record.errors, record.closes
            self.tally.add(tally.from_json(record.tally))
        elif isinstance(record, PartDone):
            self._parts, self._size, self._closes = self._parts + 1, 0, False
            self.losses.update(record.losses)
        else:
            self._is_whole = True

    def _replay(self) -> Iterator[ChunkDone | PartDone | AllDone]:
        """Read what was recorded; a line that was not finished is cut off."""
        if not self._records.exists():
            return
        whole = 0
        with self._records.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                yield msgspec.json.decode(line, type=ChunkDone | PartDone | AllDone)
        _truncate(self._records, whole)


def _append(path: Path, data: bytes) -> int:
    """Append to a file, down to the disk; return its length."""
    with path.open("ab", buffering=0) as file:
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())
        return file.tell()


def _truncate(path: Path, size: int) -> None:
    with path.open("ab") as file:
        if file.tell() < size:
            raise ParlinkError(f"{path}: is shorter than it was; remove {path.parent} to begin anew")
        file.truncate(size)
