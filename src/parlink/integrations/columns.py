"""Columns of texts in, columns of links out: what the adapters of tables have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from parlink.corpus.job import Job, link_documents, one_thread, open_linker
from parlink.data import jsonl
from parlink.types import Document

Links = list[dict[str, Any]]  # as `links` are in parlink's JSON


def error_column(output: str) -> str:
    """The name of the column that says why there are no links."""
    return f"{output}_error"


def link_texts(job: Job, texts: Sequence[str | None]) -> list[Document | None]:
    """Link texts on one thread, with a linker that is opened once in a process; where there is no text, say nothing."""
    linker = open_linker(job.model, job.kb, load=job.load, shared=job.shared)
    docs = [Document(text) for text in texts if isinstance(text, str)]
    with one_thread():
        linked = iter([doc for doc, _ in link_documents(linker, job, docs)])
    return [next(linked) if isinstance(text, str) else None for text in texts]


def make_job(model: Path | str | None, kb: Path | str | None, **settings: Any) -> Job:
    """Describe what is to be done; paths are made absolute, as other processes have other folders of their own."""
    return replace(Job(**settings), model=_resolve(model), kb=_resolve(kb))


def to_columns(docs: Sequence[Document | None]) -> tuple[list[Links | None], list[str | None]]:
    """Return the links and the error of each document; there are no links where there is no text or an error."""
    links = [None if doc is None or doc.error is not None else list(map(jsonl.link_to_json, doc.links)) for doc in docs]
    return links, [None if doc is None else doc.error for doc in docs]


def _resolve(path: Path | str | None) -> Path | None:
    return None if path is None else Path(path).resolve()
