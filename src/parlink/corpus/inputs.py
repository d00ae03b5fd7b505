"""The files of a corpus, in order, and the part of it that one of several machines takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from parlink.corpus.chunks import Chunk, cut
from parlink.data import files, formats
from parlink.data.formats.detect import has_no_lines
from parlink.data.formats.entries import Entry, read_entries
from parlink.data.formats.rows import DEFAULT, Fields
from parlink.errors import ConfigError, ParlinkError


@dataclass(frozen=True, slots=True)
class Inputs:
    """Files, the format of each, and the fields that hold the text and the id."""

    names: tuple[str, ...]
    formats: tuple[str | None, ...]  # None: an empty file
    fields: Fields = DEFAULT

    def entries(self) -> Iterator[Entry]:
        """Read all files, one document at a time."""
        for name, kind in zip(self.names, self.formats, strict=True):
            if kind is not None:
                yield from read_entries(name, kind, fields=self.fields)

    def count(self) -> int | None:
        """Count documents and broken places, if the files can be read twice; nothing is parsed where lines will do."""
        if files.STANDARD_STREAM in self.names:
            return None
        return sum(map(self._count, self.names, self.formats))

    def _count(self, name: str, kind: str | None) -> int:
        if kind is None or kind == "text":
            return 0 if kind is None else 1
        if kind == "jsonl":
            return sum(1 for _ in files.lines(name))
        return sum(1 for _ in read_entries(name, kind, fields=self.fields))


@dataclass(frozen=True, slots=True)
class Shard:
    """The part `number` of `total`, from 1."""

    number: int
    total: int


def find_inputs(
    paths: Sequence[Path | str],
    *,
    source_format: str | None = None,
    text_field: str | None = None,
    id_field: str | None = None,
) -> Inputs:
    """Find the files that paths, folders and patterns stand for, and tell their formats before any work is done."""
    names = [name for path in paths for name in ([str(path)] if source_format == "brat" else formats.expand(path))]
    if len(names) > 1 and files.STANDARD_STREAM in names:
        raise ParlinkError("standard input (-) cannot be one of several inputs; give it alone")
    kinds = [source_format or (None if has_no_lines(name) else formats.format_of(name)) for name in names]
    return Inputs(tuple(names), tuple(kinds), Fields(text_field or "text", id_field or "id"))


def parse_shard(text: str) -> Shard:
    """Read `I/N`."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ConfigError(f"--shard must be I/N with I from 1 to N, as 1/4, got {text!r}")
    return Shard(int(match[1]), int(match[2]))


def read_chunks(inputs: Inputs, *, shard: Shard | None = None, part_documents: int | None = None) -> Iterator[Chunk]:
    """Read the chunks of all files, or of a shard: a stretch of the same chunks, so that all shards, joined, are all.

    For a shard the files are read twice, once to count.
    """
    if shard is None:
        return cut(inputs.entries(), part_documents=part_documents)
    if files.STANDARD_STREAM in inputs.names:
        raise ParlinkError("standard input (-) has no shards, as it is read twice for them; give files")
    number = sum(1 for _ in cut(inputs.entries(), part_documents=part_documents))
    first, last = (number * place // shard.total for place in (shard.number - 1, shard.number))
    return islice(cut(inputs.entries(), part_documents=part_documents), first, last)
