"""A plain list of titles, one a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from parlink.data import files
from parlink.errors import DataFormatError
from parlink.kb.build.entries import Entry, add_entry
from parlink.kb.build.facts import Batch

_BATCH = 100_000


def read(path: Path, *, source: int) -> Iterator[Batch]:
    """Read a list in batches; blank lines are passed over."""
    batch = Batch()
    for number, raw in files.lines(path):
        batch.entries += 1
        batch.size += len(raw)
        try:
            add_entry(batch, Entry(files.decoded(raw, path=path, line=number)), source=source)
        except ValueError as error:
            raise DataFormatError(str(error), path=path, line=number) from error
        if batch.entries >= _BATCH:
            yield batch
            batch = Batch()
    yield batch
