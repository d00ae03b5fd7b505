"""`parlink data`: build data sets and convert between formats."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from parlink.cli.engine import ADDRESS, ENGINE, EngineName, choose_engine

T = TypeVar("T")
FORMATS = "Format, such as jsonl, parquet, csv, nif, elevant; default: told from name and content."

app = typer.Typer(no_args_is_help=True)


@app.callback()
def data() -> None:
    """Build data sets and convert between formats."""


@app.command()
def aida(
    conll: Annotated[Path, typer.Option(help="Folder with eng.train, eng.testa, eng.testb of CoNLL-2003.")],
    annotations: Annotated[Path, typer.Option(help="AIDA-YAGO2-annotations.tsv.")],
    candidates: Annotated[Path, typer.Option(help="PPRforNED's AIDA_candidates: the folder, or the .tar.gz.")],
    redirects: Annotated[Path, typer.Option(help="JSON object: title to current title.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for train.jsonl, testa.jsonl, testb.jsonl, graph.jsonl.")
    ],
) -> None:
    """Build AIDA-CoNLL with its candidates. Writes their link graph too, and prints counts and candidate recall."""
    from parlink.cli.bars import spinner
    from parlink.data.aida.corpus import build

    with spinner("joining AIDA"):
        counts = build(conll, annotations=annotations, candidates=candidates, redirects=redirects, output=output)
    for split, n in counts.items():
        print(
            f"{split}: {n.documents:,} documents, {n.with_link:,} with a link, {n.linked:,} linked and {n.nil:,} NIL "
            f"mentions; candidates hold the gold title of {n.recall:.2%}"
        )


@app.command()
def wikipedia(
    dump: Annotated[Path, typer.Argument(help="MediaWiki XML dump (.xml, .gz, .bz2), or schools2007.jsonl.gz.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="JSONL of training documents (.jsonl, .gz, .zst).")],
    kb: Annotated[Path | None, typer.Option(help="Knowledge base folder; links go through its redirects.")] = None,
    repeats: Annotated[bool, typer.Option(help="Link later mentions of a linked surface, and of the title.")] = False,
    processes: Annotated[int, typer.Option(min=1, help="Processes that clean pages.")] = os.cpu_count() or 1,
    engine: Annotated[EngineName, ENGINE] = EngineName.PROCESSES,
    address: Annotated[str | None, ADDRESS] = None,
) -> None:
    """Turn a Wikipedia dump into training documents. Prints counts."""
    from collections import Counter

    from parlink.data import jsonl
    from parlink.data.parallel import in_processes
    from parlink.data.wikipedia import articles, mediawiki, schools

    counts: Counter[str] = Counter()
    resolve = _resolve(kb)
    if ".jsonl" in dump.suffixes:
        docs = schools.read(dump, resolve=resolve, repeats=repeats, counts=counts)
    else:
        known = articles.survey(_count(mediawiki.pages(dump), "redirects"))
        mapping = choose_engine(engine, processes, address) or in_processes(processes)
        docs = articles.read(dump, known=known, resolve=resolve, repeats=repeats, engine=mapping, counts=counts)
    jsonl.write(output, _count(docs, "documents"))
    for name, number in sorted(counts.items()):
        print(f"{name}: {number:,}")


@app.command()
def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="File, folder, pattern, s3:// or other URL, or -.")],
    output: Annotated[str, typer.Option("--output", "-o", help="File, URL or -; a folder for brat.")],
    source_format: Annotated[str | None, typer.Option("--from", help=FORMATS)] = None,
    output_format: Annotated[str | None, typer.Option("--to", help=FORMATS)] = None,
    text_field: Annotated[str | None, typer.Option(help="Field of JSON, CSV, TSV, Parquet with the text.")] = None,
    id_field: Annotated[str | None, typer.Option(help="Field with the id.")] = None,
    kb: Annotated[Path | None, typer.Option(help="Knowledge base folder that turns identifiers into titles.")] = None,
) -> None:
    """Convert documents between formats. What a format cannot hold is counted on stderr."""
    from parlink.data import formats

    losses = formats.convert(
        source,
        output,
        source_format=source_format,
        output_format=output_format,
        text_field=text_field,
        id_field=id_field,
        resolve=_resolve(kb),
        passing=lambda docs: _count(docs, "documents"),
    )
    _tell_losses(losses)


@app.command()
def concat(
    sources: Annotated[list[str], typer.Argument(metavar="IN...", help="Files, folders or patterns, in order.")],
    output: Annotated[str, typer.Option("--output", "-o", help="File, URL or -.")],
    unique: Annotated[bool, typer.Option("--unique", help="Refuse an id that comes twice, or is missing.")] = False,
) -> None:
    """Join files of documents in the order given. They may be the shards of a run."""
    from parlink.data import formats

    losses = formats.concat(sources, output, unique=unique, passing=lambda docs: _count(docs, "documents"))
    _tell_losses(losses)


def _tell_losses(losses: Mapping[str, int]) -> None:
    for what, number in sorted(losses.items()):
        print(f"warning: the output cannot hold {what} ({number:,} times)", file=sys.stderr)


def _resolve(kb: Path | None) -> Callable[[str], str | None] | None:
    if kb is None:
        return None
    from parlink.kb import KnowledgeBase

    return KnowledgeBase.open(kb).resolve


def _count(items: Iterable[T], name: str) -> Iterable[T]:
    """Show on stderr how many items have passed."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} {task.description}"), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield from progress.track(items, description=name)
