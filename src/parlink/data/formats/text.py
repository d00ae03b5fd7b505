"""Plain text: a file is a document, and its name is the id."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from parlink.data import files
from parlink.data.identifiers import Resolve
from parlink.errors import DataFormatError
from parlink.types import Document


def read(path: Path | str, *, resolve: Resolve | None = None, losses: Counter[str] | None = None) -> Iterator[Document]:
    """Read one document, its text kept as it is but for a byte order mark."""
    try:
        text = files.content(path).removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        raise DataFormatError(f"not UTF-8: {error}; convert the file to UTF-8", path=path) from error
    yield Document(text, id=files.stem(path))
