"""The formats that parlink reads and writes, by name; which one a file is in; and from one to another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from parlink.data import compression, files, jsonl
from parlink.data.formats import brat, conll, elevant, mentions, nif, zelda
from parlink.data.identifiers import UNKNOWN, Resolve
from parlink.errors import DataFormatError, ParlinkError
from parlink.types import Document, Link

T = TypeVar("T")


class Reader(Protocol):
    """Reads documents from a path."""

    def __call__(
        self, path: Path | str, *, resolve: Resolve | None = None, losses: Counter[str] | None = None
    ) -> Iterator[Document]:
        """Yield documents one by one."""
        ...


class Writer(Protocol):
    """Writes documents to a path, and counts what the format cannot hold."""

    def __call__(self, path: Path | str, documents: Iterable[Document], *, losses: Counter[str] | None = None) -> None:
        """Write them all."""
        ...


def convert(
    source: Path | str,
    output: Path | str,
    *,
    source_format: str | None = None,
    output_format: str | None = None,
    resolve: Resolve | None = None,
    passing: Callable[[Iterable[Document]], Iterable[Document]] = iter,
) -> Counter[str]:
    """Copy documents from one format to another, one at a time; return what was lost and what was not resolved.

    The formats are told from the names and contents of the files where they are not given. `passing` may watch
    the documents go by.
    """
    losses: Counter[str] = Counter()
    write_to = _named(WRITERS, output_format or output_format_of(output))
    docs = _some(read(source, source_format, resolve=resolve, losses=losses), source)
    write_to(output, passing(docs), losses=losses)
    return losses


def read(
    path: Path | str,
    format_name: str | None = None,
    *,
    resolve: Resolve | None = None,
    losses: Counter[str] | None = None,
) -> Iterator[Document]:
    """Read documents in the format named, or in the one that the file looks like."""
    return _named(READERS, format_name or format_of(path))(path, resolve=resolve, losses=losses)


def format_of(path: Path | str, *, predicted: bool = False) -> str:
    """Tell the format of a file by its suffix, and that of JSON lines by the fields of the first.

    An article of ELEVANT may hold gold and predictions; `predicted` says which are meant.
    """
    given = Path(path)
    if given.is_dir():
        return "brat"
    if (known := _by_suffix(given)) is not None:
        return known
    if str(path) == files.STANDARD_STREAM:
        return "jsonl"
    first = next(files.lines(path), None)
    if first is None:
        raise DataFormatError("the file is empty; wanted documents", path=path)
    try:
        fields = msgspec.json.decode(first[1], type=dict[str, msgspec.Raw]).keys()
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        if _suffix(given) == ".jsonl":
            return "jsonl"  # whose reader says what is wrong with the line
        message = f"cannot tell its format ({error}); parlink data convert --from takes {', '.join(READERS)}"
        raise DataFormatError(message, path=path, line=first[0]) from error
    found = [name for name, marks in _MARKS.items() if marks <= fields]
    if predicted and "elevant-predictions" in found:
        return "elevant-predictions"
    return found[0] if found else "jsonl"


def output_format_of(path: Path | str) -> str:
    """Tell the format to write by the suffix of a name; a name without one is a folder for brat."""
    given = Path(path)
    if _suffix(given) in (".nt", ".rdf"):
        raise ParlinkError(f"{path}: parlink writes NIF as Turtle; give a name that ends in .ttl")
    if str(path) != files.STANDARD_STREAM and (given.is_dir() or not given.suffix):
        return "brat"
    if (known := _by_suffix(given)) is not None:
        return known
    if str(path) == files.STANDARD_STREAM or _suffix(given) in (".jsonl", ".json"):
        return "jsonl"
    endings = ", ".join(sorted({".jsonl", *_SUFFIXES}))
    raise ParlinkError(f"{path}: cannot tell the format of {_suffix(given)!r}; wanted {endings}, or --to FORMAT")


def _by_suffix(path: Path) -> str | None:
    return _SUFFIXES.get(_suffix(path))


def _suffix(path: Path) -> str:
    """Return the last suffix, that of a compressed file left out."""
    return (path.with_suffix("") if path.suffix in compression.COMPRESSED else path).suffix


def _read_jsonl(
    path: Path | str, *, resolve: Resolve | None = None, losses: Counter[str] | None = None
) -> Iterator[Document]:
    losses = Counter() if losses is None else losses
    for doc in jsonl.read(path):
        yield doc if resolve is None else replace(doc, links=tuple(_resolved(x, resolve, losses) for x in doc.links))


def _resolved(link: Link, resolve: Resolve, losses: Counter[str]) -> Link:
    names = [name for name in (link.title, link.id) if name is not None]
    title = next((found for name in names if (found := resolve(name)) is not None), None)
    if names and title is None:
        losses[UNKNOWN] += 1
    return replace(link, title=title or link.title)


def _write_jsonl(path: Path | str, documents: Iterable[Document], *, losses: Counter[str] | None = None) -> None:
    jsonl.write(path, documents)


def _write_elevant(
    path: Path | str, documents: Iterable[Document], *, part: elevant.Part, losses: Counter[str] | None = None
) -> None:
    elevant.write(path, documents, part=part)


READERS: dict[str, Reader] = {
    "jsonl": _read_jsonl,
    "nif": nif.read,
    "aida": conll.read,
    "elevant": elevant.read,
    "elevant-predictions": partial(elevant.read, part="entity_mentions"),
    "zelda": zelda.read,
    "brat": brat.read,
    "mentions": mentions.read,
}
WRITERS: dict[str, Writer] = {
    "jsonl": _write_jsonl,
    "nif": nif.write,
    "aida": conll.write,
    "elevant": partial(_write_elevant, part="labels"),
    "elevant-predictions": partial(_write_elevant, part="entity_mentions"),
    "zelda": zelda.write,
    "brat": brat.write,
}
_SUFFIXES = {
    ".ttl": "nif",
    ".nif": "nif",
    ".nt": "nif",
    ".rdf": "nif",
    ".tsv": "aida",
    ".conll": "aida",
    ".ann": "brat",
}
_MARKS = {
    "zelda": {"index", "wikipedia_titles"},
    "mentions": {"mentions"},
    "elevant": {"labels"},
    "elevant-predictions": {"entity_mentions"},
}


def _some(docs: Iterator[Document], path: Path | str) -> Iterator[Document]:
    first = next(docs, None)
    if first is None:
        raise DataFormatError("no document in it; give a file with one document at least", path=path)
    yield first
    yield from docs


def _named(table: dict[str, T], name: str) -> T:
    if name not in table:
        raise ParlinkError(f"no format {name!r}; wanted one of {', '.join(table)}")
    return table[name]
