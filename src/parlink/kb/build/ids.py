"""Identifiers by title: a table with the columns title and id, or just two columns, a JSON object, or a wiki's dump."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from parlink.data import files
from parlink.data.references import unescape_title
from parlink.data.wikipedia.mediawiki import pages
from parlink.errors import DataFormatError
from parlink.kb.build import tables


def read_ids(path: Path) -> Iterator[tuple[str, str]]:
    """Yield title and id; a broken line is an error that names it."""
    pairs = _reader(path)(path)
    for title, identifier in pairs:
        if title and identifier:
            yield unescape_title(title), identifier


def _reader(path: Path) -> Callable[[Path], Iterator[tuple[str, str]]]:
    if ".xml" in path.suffixes:
        return _from_dump
    return _from_json if ".json" in path.suffixes else _from_table


def _from_dump(path: Path) -> Iterator[tuple[str, str]]:
    """The page ids of articles; one that redirects would give its target a second id."""
    for page in pages(path):
        if page.namespace == 0 and page.redirect is None and page.id is not None:
            yield page.title, str(page.id)


def _from_json(path: Path) -> Iterator[tuple[str, str]]:
    try:
        yield from msgspec.json.decode(files.content(path), type=dict[str, str]).items()
    except (msgspec.DecodeError, UnicodeError) as error:
        raise DataFormatError(f"wanted a JSON object of title to id: {error}", path=path) from error


def _from_table(path: Path) -> Iterator[tuple[str, str]]:
    title, identifier = 0, 1
    for place, (number, row) in enumerate(tables.text_rows(path)):
        if place == 0 and {"title", "id"} <= set(row):
            title, identifier = row.index("title"), row.index("id")
        elif len(row) <= max(title, identifier):
            raise DataFormatError(f"wanted a title and an id, got {row}", path=path, line=number)
        else:
            yield " ".join(row[title].split()), row[identifier].strip()
