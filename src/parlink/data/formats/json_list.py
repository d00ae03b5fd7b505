"""One JSON list of documents, read an item at a time, however long it is."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from parlink.data import files, jsonl
from parlink.data.formats.rows import DEFAULT, Fields, Rows, read_rows, to_document
from parlink.data.identifiers import Resolve
from parlink.errors import DataFormatError
from parlink.types import Document

_CHUNK = 1 << 20  # characters
_SPACE = re.compile(r"[ \t\r\n]*")


def read(
    path: Path | str,
    *,
    fields: Fields = DEFAULT,
    resolve: Resolve | None = None,
    losses: Counter[str] | None = None,
) -> Iterator[Document]:
    """Read the documents of a list."""
    return read_rows(rows(path, fields), resolve, losses)


def rows(path: Path | str, fields: Fields) -> Rows:
    """Yield what makes the document of each item."""
    for line, value in items(path):
        yield line, partial(to_document, value, fields, path=path, line=line)


def write(path: Path | str, documents: Iterable[Document], *, losses: Counter[str] | None = None) -> None:
    """Write a list, a document a line; nothing is lost."""
    write_items(path, (jsonl.encode(doc).rstrip(b"\n") for doc in documents))


def write_items(path: Path | str, values: Iterable[bytes]) -> None:
    """Write a list of values that are JSON already, one a line."""
    with files.open_output(path) as file:
        before = b"[\n"
        for value in values:
            file.write(before + value)
            before = b",\n"
        file.write(b"[]\n" if before == b"[\n" else b"\n]\n")


def items(path: Path | str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a list one by one, each with the line on which it begins."""
    with files.open_input(path) as binary:
        reader = io.TextIOWrapper(binary, encoding="utf-8-sig", newline="")
        try:
            yield from _Items(reader, path)
        except UnicodeDecodeError as error:
            raise DataFormatError(f"not UTF-8: {error}; convert the file to UTF-8", path=path) from error
        except files.BROKEN as error:
            raise DataFormatError(f"is broken or cut off ({error}); fetch or write it again", path=path) from error
        finally:
            reader.detach()


class _Items:
    """A window on the text of a list, which moves from item to item and grows when an item does not fit."""

    def __init__(self, reader: io.TextIOWrapper, path: Path | str) -> None:
        self._reader, self._path = reader, path
        self._text, self._place, self._line = "", 0, 1

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        if self._next() != "[":
            self._fail("wanted a JSON list of objects")
        self._place += 1
        while (mark := self._next()) != "]":
            if mark == ",":
                self._place += 1
                self._next()
            line = self._line
            yield line, self._item()

    def _next(self) -> str:
        """Pass over white space, and return the character behind it, or nothing at the end."""
        while True:
            space = _SPACE.match(self._text, self._place)
            self._move(space.end() if space else self._place)
            if self._place < len(self._text) or not self._grow():
                return self._text[self._place : self._place + 1]

    def _item(self) -> dict[str, Any]:
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._place)
            except (json.JSONDecodeError, RecursionError) as error:
                if isinstance(error, RecursionError) or not self._grow():
                    self._fail(f"not valid JSON: {error}; wanted a list of whole objects")
                continue
            if not isinstance(value, dict):
                self._fail(f"the list holds {str(value)[:60]!r}; wanted objects")
            self._move(end)
            return value

    def _move(self, place: int) -> None:
        self._line += self._text.count("\n", self._place, place)
        self._place = place

    def _grow(self) -> bool:
        """Read as much again as is not yet used, so that a long item is not parsed too often."""
        rest = self._text[self._place :]
        if len(rest) > files.MAX_LINE:
            self._fail(f"an item of more than {files.MAX_LINE >> 20} MB; wanted one document an item")
        more = self._reader.read(max(_CHUNK, len(rest)))
        self._text, self._place = rest + more, 0
        return bool(more)

    def _fail(self, message: str) -> NoReturn:
        raise DataFormatError(message, path=self._path, line=self._line)


def _refuse_constant(name: str) -> NoReturn:
    raise json.JSONDecodeError(f"{name} is no number of JSON", name, 0)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
