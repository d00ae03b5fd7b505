"""A tiny corpus, and the model and knowledge base that link it."""

from __future__ import annotations

from pathlib import Path

from parlink.checkpoint.folder import save_checkpoint
from parlink.config import LinkOptions
from parlink.corpus.annotate import Summary, annotate
from parlink.corpus.inputs import find_inputs
from parlink.corpus.job import Job
from parlink.corpus.output import choose_output
from parlink.types import Document, Span
from tiny_kb import tiny_folder
from tiny_model import tiny_checkpoint

OPTIONS = LinkOptions(mention_threshold=-5.0)
GIVEN = (Span(0, 7), Span(13, 17), Span(18, 19))  # of every other document, as random weights find no names
DOCUMENTS = [
    Document(f"Hamburg beat Kent {n} to {n}, and Zürich saw it.", id=str(n), spans=GIVEN if n % 2 else None)
    for n in range(40)
]


def tiny_job(folder: Path, *, seed: int = 3) -> Job:
    """A job with a model of random weights that finds mentions."""
    save_checkpoint(folder / "model", tiny_checkpoint(seed=seed, spread=3.0), card="")
    return Job(model=folder / "model", kb=tiny_folder(folder), options=OPTIONS)


def link_files(
    source: Path | str, output: Path | str, job: Job, *, parts: int | None = None, **more: object
) -> Summary:
    """Link files as the command does."""
    return annotate(
        find_inputs([source]),
        choose_output(str(output), part_documents=parts),
        job=job,
        **more,  # type: ignore[arg-type]
    )
