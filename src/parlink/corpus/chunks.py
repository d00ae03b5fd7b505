"""Cut a stream of documents into chunks, the unit that is linked, written and lost in a kill.

How floats are rounded depends on what is computed together. So where a chunk begins and ends depends on the documents
alone, not on time or processes: the same chunks give the same bytes, whoever links them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from parlink.data import jsonl
from parlink.data.formats.entries import Entry

CHARACTERS = 32_000  # of a chunk; some seconds of work
DOCUMENTS = 500


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some neighboring entries; the last of a part if `closes`."""

    entries: tuple[Entry, ...]
    closes: bool = False

    @property
    def checksum(self) -> int:
        """Return a number that changes with the content."""
        checksum = 0
        for entry in self.entries:
            content = (entry.error or "").encode() if entry.document is None else jsonl.encode(entry.document)
            checksum = zlib.crc32(content, checksum)
        return checksum


def cut(entries: Iterable[Entry], *, part_documents: int | None = None) -> Iterator[Chunk]:
    """Yield all entries, in chunks; one closes a part when that has its number of documents."""
    gathered: list[Entry] = []
    characters = documents = 0
    for entry in entries:
        gathered.append(entry)
        if entry.document is not None:
            characters += len(entry.document.text)
            documents += 1
        closes = part_documents is not None and entry.document is not None and documents % part_documents == 0
        if closes or characters >= CHARACTERS or len(gathered) >= DOCUMENTS:
            yield Chunk(tuple(gathered), closes)
            gathered, characters = [], 0
    if gathered:
        yield Chunk(tuple(gathered))
