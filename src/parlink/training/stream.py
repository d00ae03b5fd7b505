"""The examples of a dataset without end, read from its file through a shuffled buffer of bounded size.

The file is read in its order, a buffer of lines at a time, and the documents of a buffer come shuffled. A file that
fits into the buffer is shuffled whole. Of a larger one the first buffer is of another size in each epoch, so that
documents do not always meet the same ones. Every place in the stream is a `Cursor` of four numbers, and what comes
after it follows from it and the seed: a run goes on from there without reading anything twice but the buffer.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import msgspec

from parlink.data import files
from parlink.training.examples import Example

Line = tuple[int, bytes]  # its number, counted from 1, and what it holds
Build = Callable[[bytes, int, random.Random], list[Example]]  # a line and its number -> the windows of its document


class Cursor(msgspec.Struct, frozen=True, kw_only=True):
    """A place in the stream of a dataset."""

    epoch: int = 0
    line: int = 0  # the last line before the present buffer
    documents: int = 0  # of the buffer, in its shuffled order, that are used up
    windows: int = 0  # of the next document that are used up


class ExampleStream:
    """The windows of one dataset, epoch after epoch, from a cursor on; `cursor` is behind the last one taken."""

    def __init__(self, path: str, build: Build, *, buffer_bytes: int, seed: str, cursor: Cursor) -> None:
        self.cursor = cursor
        self._path, self._build, self._buffer_bytes, self._seed = path, build, buffer_bytes, seed
        self._examples = self._read()

    def __iter__(self) -> Iterator[Example]:
        return self

    def __next__(self) -> Example:
        return next(self._examples)

    def _read(self) -> Iterator[Example]:
        while True:
            for buffer in self._buffers():
                yield from self._shuffle(buffer)
                self.cursor = Cursor(epoch=self.cursor.epoch, line=buffer[-1][0])
            self.cursor = Cursor(epoch=self.cursor.epoch + 1)

    def _buffers(self) -> Iterator[list[Line]]:
        """The lines of the file after the cursor's, so many at a time that their bytes fit into the buffer."""
        start, room = self.cursor.line, float(self._buffer_bytes)
        if not start:
            room *= random.Random(f"buffer {self._seed} {self.cursor.epoch}").uniform(0.5, 1)
        buffer: list[Line] = []
        filled = 0
        for number, line in files.lines(self._path):
            if number <= start:
                continue
            if buffer and filled + len(line) > room:
                yield buffer
                buffer, filled, room = [], 0, self._buffer_bytes
            buffer.append((number, line))
            filled += len(line)
        if buffer:
            yield buffer

    def _shuffle(self, buffer: list[Line]) -> Iterator[Example]:
        """The windows of a buffer's documents in the order that its place decides, from the cursor on."""
        place = self.cursor
        order = random.Random(f"order {self._seed} {place.epoch} {place.line}").sample(buffer, len(buffer))
        for documents in range(place.documents, len(order)):
            number, line = order[documents]
            examples = self._build(line, number, random.Random(f"document {self._seed} {place.epoch} {number}"))
            used = place.windows if documents == place.documents else 0
            for windows, example in enumerate(examples[used:], used + 1):
                self.cursor = msgspec.structs.replace(place, documents=documents, windows=windows)
                yield example
