"""Which reader a source needs: told by the end of its name."""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

from parlink.data.parallel import Engine
from parlink.errors import DataFormatError, KnowledgeBaseError
from parlink.kb.build import jsonl, mediawiki, sql, tables, wikidata
from parlink.kb.build.facts import Batch

_KINDS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "table",
    ".tsv": "table",
    ".parquet": "parquet",
    ".txt": "titles",
    ".xml": "mediawiki",
    ".sql": "sql",
    ".json": "wikidata",
}
_PACKED = (".gz", ".bz2", ".zst")
_SAMPLE = 1 << 20
_MOST = 1 << 26  # bytes that the sample may unpack to
_UNPACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda sample: zlib.decompressobj(wbits=31).decompress(sample, _MOST),
    ".bz2": lambda sample: bz2.BZ2Decompressor().decompress(sample, _MOST),
}


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """What readers have to know beside the file."""

    engine: Engine = map  # what maps over the pieces of a dump
    language: str = "en"  # of a Wikidata dump
    ignored: Collection[str] = ()  # columns and keys to pass over
    page_numbers: bool = False  # whether the numbers of pages are wanted, for the tables of a wiki


DEFAULT = ReadOptions()


def kind_of(path: Path) -> str:
    """Return the kind of a source, such as jsonl or mediawiki."""
    if not path.is_file():
        raise KnowledgeBaseError(f"{path}: no such file; give the sources that the knowledge base is made from")
    name = path.name.lower()
    for packed in _PACKED:
        name = name.removesuffix(packed)
    kind = _KINDS.get(Path(name).suffix)
    if kind is None:
        known = ", ".join(_KINDS)
        raise KnowledgeBaseError(f"{path}: unknown kind of source; names end in {known}, or these with .gz or .bz2")
    return kind


def read(path: Path, *, kind: str, source: int, options: ReadOptions = DEFAULT) -> Iterator[Batch]:
    """Read a source in batches; `source` is its number."""
    if kind == "mediawiki":
        return mediawiki.read(path, source=source, engine=options.engine, page_numbers=options.page_numbers)
    if kind == "wikidata":
        return wikidata.read(path, source=source, language=options.language, engine=options.engine)
    if kind in ("titles", "sql"):
        return (tables.read_list if kind == "titles" else sql.read)(path, source=source)
    readers = {"jsonl": jsonl.read, "table": tables.read, "parquet": tables.read_parquet}
    return readers[kind](path, source=source, ignored=options.ignored)


def unpacked_size(path: Path) -> int:
    """Return the size of a file when unpacked, estimated from its beginning."""
    size = path.stat().st_size
    if path.suffix not in _UNPACK or not size:
        return size
    with path.open("rb") as file:
        sample = file.read(_SAMPLE)
    try:
        return len(_UNPACK[path.suffix](sample)) * size // len(sample)
    except (OSError, zlib.error):
        return size  # broken; whoever reads it says so


def sha256(path: Path) -> str:
    """Return the hash of a file's bytes."""
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataFormatError(f"cannot be read ({error.strerror}); is the disk in order?", path=path) from error
