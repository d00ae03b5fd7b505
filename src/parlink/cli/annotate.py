"""`parlink annotate`: link files of documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from parlink.cli.data import FORMATS
from parlink.cli.struct_options import DEVICE, add_options
from parlink.config import LinkOptions


@add_options(LinkOptions)
def annotate(
    options: LinkOptions,
    documents: Annotated[list[Path], typer.Argument(metavar="IN", help="Files of documents, any format.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON lines: the documents with their links.")],
    model: Annotated[
        Path | None, typer.Option(help="Model folder; default: the model that comes with parlink.")
    ] = None,
    kb: Annotated[Path | None, typer.Option(help="Knowledge base folder; default: the model's own.")] = None,
    source_format: Annotated[str | None, typer.Option("--from", help=FORMATS)] = None,
    top: Annotated[int, typer.Option("--top", "--candidates", min=0, help="Candidates to keep of each link.")] = 5,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped.")] = False,
    device: Annotated[str, DEVICE] = "cpu",
) -> None:
    """Link every document; links it has are replaced, but given spans and candidates are used."""
    from itertools import chain

    from parlink.cli.bars import document_bar, tell
    from parlink.data import files, formats
    from parlink.linking.annotate import annotate
    from parlink.linking.linker import Linker

    kinds = [source_format or formats.format_of(path) for path in documents]
    lines = (sum(1 for _ in files.lines(path)) for path in documents)
    total = sum(lines) if set(kinds) == {"jsonl"} and Path(files.STANDARD_STREAM) not in documents else None
    linker = Linker.load(model, kb=kb, device=device)
    resolve = None if linker.kb is None else linker.kb.resolve
    docs = (formats.read(path, kind, resolve=resolve) for path, kind in zip(documents, kinds, strict=True))
    with document_bar(total, "linking") as progress:
        done = annotate(
            linker,
            chain.from_iterable(docs),
            output,
            options=options,
            top=top,
            resume=resume,
            progress=progress,
        )
    if done.failed:
        tell(f"warning: {done.failed:,} of {done.documents:,} documents could not be linked; their `error` says why")
    print(f"{output}: {done.documents:,} documents")
