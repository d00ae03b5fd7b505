"""What is to be done with every chunk, and the function that does it, in whatever process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from parlink.checkpoint.config_file import own_kb, packaged_model
from parlink.checkpoint.unpacked import unpack
from parlink.config import LinkOptions
from parlink.corpus.chunks import Chunk
from parlink.corpus.tally import Tally
from parlink.data import jsonl
from parlink.data.brief import keep_top
from parlink.data.formats.entries import Entry
from parlink.data.html import Stripped, strip_html
from parlink.linking.keep import keep
from parlink.linking.linker import DEFAULT, Linker
from parlink.load_options import DEFAULT_LOAD, LoadOptions
from parlink.types import Document

Strip = Literal["html"]


@dataclass(frozen=True, slots=True)
class Job:
    """A model, a knowledge base and options; small, so that it can be sent to any process."""

    model: Path | None = None  # None: the model that comes with parlink
    kb: Path | None = None  # None: the model's own
    options: LinkOptions = DEFAULT
    top: int = 5  # candidates to keep of each link
    strip: Strip | None = None
    load: LoadOptions = DEFAULT_LOAD
    shared: bool = False  # whether other processes of the machine do the same, so that memory is to be shared


@dataclass(frozen=True, slots=True)
class LinkedChunk:
    """A chunk as it is to be written: lines of documents, and lines of errors."""

    documents: bytes
    errors: bytes
    tally: Tally
    checksum: int  # of the chunk before it was linked
    closes: bool
    kb: frozenset[str | None]  # the states of the knowledge base that links point into


def link_chunk(job: Job, chunk: Chunk) -> LinkedChunk:
    """Link a chunk on one thread, with a linker that is opened once in a process."""
    linker = _open_for_good(job.model, job.kb, load=job.load, shared=job.shared)
    with one_thread():
        return link_entries(linker, job, chunk)


@lru_cache(maxsize=1)
def _open_for_good(model: Path | None, kb: Path | None, *, load: LoadOptions, shared: bool) -> Linker:
    return keep(open_linker(model, kb, load=load, shared=shared))


@lru_cache(maxsize=1)
def open_linker(model: Path | None, kb: Path | None, *, load: LoadOptions, shared: bool = False) -> Linker:
    """Open the linker of this process; knowledge bases are mapped, and where memory is shared the weights are too."""
    source = packaged_model() if model is None else model
    folder = unpack(source) if shared else source
    return Linker.load(folder, kb=kb or own_kb(source), device=load.device, precision=load.precision)


def link_entries(linker: Linker, job: Job, chunk: Chunk) -> LinkedChunk:
    """Link the documents of a chunk, count, and write what is wrong with the others.

    The bytes depend on the chunk alone, and not on those that this process has linked before.
    """
    linker.forget()
    documents, errors, tally = bytearray(), bytearray(), Tally()
    entries = [entry for entry in chunk.entries if entry.document is not None]
    linked = iter(link_documents(linker, job, [entry.document for entry in entries if entry.document is not None]))
    states: set[str | None] = set()
    for entry in chunk.entries:
        if entry.document is None:
            tally.unreadable += 1
            errors += _describe(entry, entry.error)
            continue
        doc, tokens = next(linked)
        tally.count(doc, tokens=tokens)
        documents += jsonl.encode(doc)
        if doc.error is not None:
            errors += _describe(entry, doc.error)
        else:
            states.add(doc.kb)
    return LinkedChunk(bytes(documents), bytes(errors), tally, chunk.checksum, chunk.closes, frozenset(states))


def link_documents(linker: Linker, job: Job, documents: Sequence[Document]) -> Iterator[tuple[Document, int]]:
    """Link documents together, and say of each how many tokens it has."""
    pages = [strip_html(doc.text) if job.strip == "html" else None for doc in documents]
    asked = [_strip(doc, page) for doc, page in zip(documents, pages, strict=True)]
    answers = linker.stream_counted(asked, options=job.options)
    for doc, page, (linked, tokens) in zip(documents, pages, answers, strict=True):
        restored = linked if page is None else page.restore(linked, doc.text)
        yield keep_top(restored, job.top), tokens


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread: processes do not get into each other's way, and sums are rounded alike everywhere."""
    import torch  # here, as the linker that is loaded before chooses the kernels

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _strip(doc: Document, page: Stripped | None) -> Document:
    """The document about the text of a page; spans and links that it came with are of the page, and are left out."""
    return doc if page is None else replace(doc, text=page.text, links=(), spans=None)


def _describe(entry: Entry, reason: str | None) -> bytes:
    value: dict[str, Any] = {"file": entry.path, "line": entry.line, "reason": reason}
    if entry.document is not None and entry.document.id:
        value["id"] = entry.document.id
    return msgspec.json.encode(value) + b"\n"
