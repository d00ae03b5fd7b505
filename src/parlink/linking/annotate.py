"""Link documents into a file of JSON lines; a run that was stopped goes on where it was."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from parlink.config import LinkOptions
from parlink.data import files, jsonl
from parlink.errors import ParlinkError
from parlink.linking.linker import DEFAULT, Linker
from parlink.types import Document


@dataclass(frozen=True, slots=True)
class Annotated:
    """What became of the documents."""

    documents: int
    failed: int  # they are in the file too, and say why


def annotate(
    linker: Linker,
    documents: Iterable[Document],
    output: Path,
    *,
    options: LinkOptions = DEFAULT,
    top: int = 5,
    resume: bool = False,
    progress: Callable[[int], None] = lambda done: None,
) -> Annotated:
    """Link documents in constant memory; each link keeps its `top` candidates.

    Lines are written to `output` with `.partial` behind its name, which is dropped at the end. With `resume` a run
    goes on behind the last whole line of that file.
    """
    partial = _partial(output, resume=resume)
    asked, done, failed = iter(documents), 0, 0
    for doc in _kept(partial, asked):
        done, failed = done + 1, failed + (doc.error is not None)
    progress(done)
    with partial.open("ab") as file:
        for doc in linker.stream(asked, options=options):
            file.write(jsonl.encode(keep_top(doc, top)))
            done, failed = done + 1, failed + (doc.error is not None)
            progress(1)
    partial.replace(output)
    return Annotated(done, failed)


def _partial(output: Path, *, resume: bool) -> Path:
    """The file to write to, or why there is none."""
    if output.suffix != ".jsonl":
        raise ParlinkError(f"{output}: give a name that ends in .jsonl; parlink data convert makes other formats of it")
    if output.exists():
        raise ParlinkError(f"{output}: is there already; remove it, or choose another output")
    partial = output.with_name(output.name + ".partial")
    if partial.exists() and not resume:
        raise ParlinkError(f"{partial}: is left of a run that was stopped; go on with --resume, or remove it")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        partial.open("ab").close()
    except OSError as error:
        raise ParlinkError(f"{output}: cannot be written ({error.strerror}); choose another output") from error
    return partial


def _kept(partial: Path, asked: Iterator[Document]) -> Iterator[Document]:
    """What an earlier run has linked of the documents, which are taken; a line that it did not finish is cut off."""
    with partial.open("rb+") as file:
        whole = 0
        for line in file:
            if not line.endswith(b"\n"):
                break
            whole += len(line)
        file.truncate(whole)
    for number, line in files.lines(partial):
        linked, doc = jsonl.decode(line, path=partial, line=number), next(asked, None)
        if doc is None or (doc.id, doc.text) != (linked.id, linked.text):
            raise ParlinkError(f"{partial}:{number}: is of another document; give the same files, or remove it")
        yield linked


def keep_top(doc: Document, top: int) -> Document:
    """Leave each link its best `top` candidates."""
    return replace(doc, links=tuple(replace(link, candidates=link.candidates[:top]) for link in doc.links))
