"""`parlink annotate`: link files of documents."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from parlink.cli.data import FORMATS
from parlink.cli.engine import ADDRESS, ENGINE, EngineName, choose_engine
from parlink.cli.options import KbFolder, Model
from parlink.cli.struct_options import add_options
from parlink.config import LinkOptions
from parlink.load_options import LoadOptions


class Strip(StrEnum):
    """What is taken out of a text."""

    HTML = "html"


@add_options(LinkOptions, LoadOptions)
def annotate(
    options: LinkOptions,
    load: LoadOptions,
    documents: Annotated[
        list[str], typer.Argument(metavar="IN...", help="Files, folders, patterns, s3:// or other URLs, or -.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="File or URL to write, its format told by its name; or -.")
    ],
    model: Model = None,
    kb: KbFolder = None,
    source_format: Annotated[str | None, typer.Option("--from", help=FORMATS)] = None,
    output_format: Annotated[str | None, typer.Option("--to", help=FORMATS)] = None,
    text_field: Annotated[str | None, typer.Option(help="Field of JSON, CSV, TSV, Parquet with the text.")] = None,
    id_field: Annotated[str | None, typer.Option(help="Field with the id.")] = None,
    strip: Annotated[
        Strip | None, typer.Option(help="Skip the markup of HTML pages; offsets stay those of the page.")
    ] = None,
    top: Annotated[int, typer.Option("--top", "--candidates", min=0, help="Candidates kept for each link.")] = 5,
    workers: Annotated[int, typer.Option(min=1, help="Processes, of one thread each.")] = 1,
    engine: Annotated[EngineName, ENGINE] = EngineName.PROCESSES,
    address: Annotated[str | None, ADDRESS] = None,
    shard: Annotated[str | None, typer.Option(metavar="I/N", help="Link the I-th of N parts of the input.")] = None,
    part_documents: Annotated[
        int | None, typer.Option(min=1, help="Documents per numbered part file; default: one file.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML page with counts and frequent entities.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Not needed: a stopped run always continues.")] = False,
) -> None:
    """Link files of documents. Existing links are replaced; given spans and candidates are used."""
    from parlink.cli.bars import corpus_bar
    from parlink.cli.corpus_summary import print_summary, write_report
    from parlink.corpus.annotate import annotate
    from parlink.corpus.inputs import find_inputs, parse_shard
    from parlink.corpus.job import Job
    from parlink.corpus.output import choose_output
    from parlink.data import files

    files.check_name(report)
    inputs = find_inputs(documents, source_format=source_format, text_field=text_field, id_field=id_field)
    target = choose_output(output, output_format=output_format, part_documents=part_documents)
    part = None if shard is None else parse_shard(shard)
    job = Job(model, kb, options, top, None if strip is None else "html", load)
    with corpus_bar(inputs.count() if part is None else None, "linking") as progress:
        summary = annotate(
            inputs,
            target,
            job=job,
            workers=workers,
            engine=choose_engine(engine, workers, address),
            shard=part,
            progress=progress,
        )
    print_summary(summary, target)
    if report is not None:
        write_report(report, summary, target)
