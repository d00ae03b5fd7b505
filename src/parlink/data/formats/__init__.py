"""The formats that parlink reads and writes, by name; and from one to another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Protocol, TypeVar

from parlink.data.formats import (
    brat,
    conll,
    contexts,
    delimited,
    docbin,
    elevant,
    json_lines,
    json_list,
    label_studio,
    mentions,
    nif,
    prodigy,
    pubtator,
    relik,
    text,
    zelda,
)
from parlink.data.formats.detect import format_of as format_of
from parlink.data.formats.detect import has_no_lines
from parlink.data.formats.detect import output_format_of as output_format_of
from parlink.data.formats.paths import expand as expand
from parlink.data.formats.rows import DEFAULT, Fields
from parlink.data.identifiers import Resolve
from parlink.errors import DataFormatError, ParlinkError
from parlink.types import Document

T = TypeVar("T")


class Reader(Protocol):
    """Reads documents from a path."""

    def __call__(
        self, path: Path | str, *, resolve: Resolve | None = None, losses: Counter[str] | None = None
    ) -> Iterator[Document]:
        """Yield documents one by one."""
        ...


class RowReader(Protocol):
    """Reads documents from rows, in which any field may be the text and any the id."""

    def __call__(
        self,
        path: Path | str,
        *,
        fields: Fields = DEFAULT,
        resolve: Resolve | None = None,
        losses: Counter[str] | None = None,
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
    text_field: str | None = None,
    id_field: str | None = None,
    resolve: Resolve | None = None,
    passing: Callable[[Iterable[Document]], Iterable[Document]] = iter,
) -> Counter[str]:
    """Copy documents from one format to another, one at a time; return what was lost and what was not resolved.

    The formats are told from the names and contents of the files where they are not given. `passing` may watch
    the documents go by.
    """
    losses: Counter[str] = Counter()
    write_to = _get(WRITERS, output_format or output_format_of(output))
    docs = read(source, source_format, text_field=text_field, id_field=id_field, resolve=resolve, losses=losses)
    write_to(output, passing(_some(docs, source)), losses=losses)
    return losses


def concat(
    sources: Sequence[Path | str],
    output: Path | str,
    *,
    unique: bool = False,
    passing: Callable[[Iterable[Document]], Iterable[Document]] = iter,
) -> Counter[str]:
    """Copy the documents of several files into one, in the order given; return what was lost.

    A file may be empty, as a shard may be. With `unique`, an id that comes twice or is missing is an error, and
    nothing is written; the ids are kept in memory.
    """
    losses: Counter[str] = Counter()
    write_to = _get(WRITERS, output_format_of(output))
    names = [name for source in sources for name in expand(source) if not has_no_lines(name)]
    docs = chain.from_iterable(read(name, losses=losses) for name in names)
    write_to(output, passing(_refuse_repeats(docs) if unique else docs), losses=losses)
    return losses


def read(
    path: Path | str,
    format_name: str | None = None,
    *,
    text_field: str | None = None,
    id_field: str | None = None,
    resolve: Resolve | None = None,
    losses: Counter[str] | None = None,
) -> Iterator[Document]:
    """Read documents in the format named, or in the one that each file looks like.

    A folder or a pattern stands for its files. `text_field` and `id_field` name the fields of JSON, CSV, TSV and
    Parquet that hold the text and the id; all other fields are carried through.
    """
    if format_name is not None:
        _get(READERS, format_name)
    fields = None if text_field is None and id_field is None else Fields(text_field or "text", id_field or "id")
    names = [str(path)] if format_name == "brat" else expand(path)
    return chain.from_iterable(
        _reader(format_name or format_of(name), fields)(name, resolve=resolve, losses=losses) for name in names
    )


def _reader(name: str, fields: Fields | None) -> Reader:
    if fields is None:
        return _get(READERS, name)
    if name not in _ROW_READERS:
        names = ", ".join(_ROW_READERS)
        raise ParlinkError(f"{name} files have no fields to choose from; --text-field and --id-field are for {names}")
    return partial(_ROW_READERS[name], fields=fields)


def _read_parquet(
    path: Path | str,
    *,
    fields: Fields = DEFAULT,
    resolve: Resolve | None = None,
    losses: Counter[str] | None = None,
) -> Iterator[Document]:
    from parlink.data.formats import parquet  # pyarrow is an extra, and large

    return parquet.read(path, fields=fields, resolve=resolve, losses=losses)


def _write_parquet(path: Path | str, documents: Iterable[Document], *, losses: Counter[str] | None = None) -> None:
    from parlink.data.formats import parquet

    parquet.write(path, documents, losses=losses)


def _write_elevant(
    path: Path | str, documents: Iterable[Document], *, part: elevant.Part, losses: Counter[str] | None = None
) -> None:
    elevant.write(path, documents, part=part)


_ROW_READERS: dict[str, RowReader] = {
    "jsonl": json_lines.read,
    "json": json_list.read,
    "csv": delimited.read,
    "tsv": partial(delimited.read, delimiter="\t"),
    "parquet": _read_parquet,
}
READERS: dict[str, Reader] = {
    **_ROW_READERS,
    "text": text.read,
    "nif": nif.read,
    "aida": conll.read,
    "elevant": elevant.read,
    "elevant-predictions": partial(elevant.read, part="entity_mentions"),
    "zelda": zelda.read,
    "brat": brat.read,
    "mentions": mentions.read,
    "docbin": docbin.read,
    "relik": relik.read,
    "kilt": contexts.read_kilt,
    "blink": contexts.read_blink,
    "pubtator": pubtator.read,
    "label-studio": label_studio.read,
    "prodigy": prodigy.read,
}
WRITERS: dict[str, Writer] = {
    "jsonl": json_lines.write,
    "json": json_list.write,
    "csv": delimited.write,
    "parquet": _write_parquet,
    "nif": nif.write,
    "aida": conll.write,
    "elevant": partial(_write_elevant, part="labels"),
    "elevant-predictions": partial(_write_elevant, part="entity_mentions"),
    "zelda": zelda.write,
    "brat": brat.write,
    "docbin": docbin.write,
    "label-studio": label_studio.write,
    "prodigy": prodigy.write,
}


def _some(docs: Iterator[Document], path: Path | str) -> Iterator[Document]:
    first = next(docs, None)
    if first is None:
        raise DataFormatError("no document in it; give a file with one document at least", path=path)
    yield first
    yield from docs


def _refuse_repeats(docs: Iterable[Document]) -> Iterator[Document]:
    seen: set[str] = set()
    for number, doc in enumerate(docs, start=1):
        if not doc.id:
            raise ParlinkError(f"document {number} has no id; give every document one, or leave out --unique")
        if doc.id in seen:
            message = f"document {number} has the id {doc.id!r}, which another has too; is a shard given twice?"
            raise ParlinkError(message)
        seen.add(doc.id)
        yield doc


def _get(table: dict[str, T], name: str) -> T:
    if name not in table:
        raise ParlinkError(f"no format {name!r}; wanted one of {', '.join(table)}")
    return table[name]
