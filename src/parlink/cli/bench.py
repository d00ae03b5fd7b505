"""`parlink bench`: how fast a model links here."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from parlink.cli.options import KbFolder, Model
from parlink.cli.struct_options import add_options
from parlink.load_options import LoadOptions


@add_options(LoadOptions)
def bench(
    load: LoadOptions,
    documents: Annotated[Path | None, typer.Argument(help="Documents, JSONL; default: a built-in text.")] = None,
    model: Model = None,
    kb: KbFolder = None,
    limit: Annotated[int, typer.Option(min=1, help="Number of documents to link.")] = 40,
    threads: Annotated[int, typer.Option(min=1, help="Threads per process.")] = 1,
    plot: Annotated[Path | None, typer.Option(help="Write a bar chart of documents per second, SVG.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure how fast a model links. One at a time and in batches, in float32 and int8 unless --precision is given."""
    from parlink.bars import spinner
    from parlink.data import files, jsonl
    from parlink.errors import ParlinkError
    from parlink.evaluation.report.speed_table import to_svg, to_table
    from parlink.evaluation.speed import TEXTS, compare_precisions

    files.check_name(plot)
    docs = TEXTS if documents is None else tuple(islice(jsonl.read(documents), limit))
    if not docs:
        raise ParlinkError(f"{documents}: no documents; give a file that has some")
    replace = msgspec.structs.replace
    loads = [load] if load.precision else [replace(load, precision=name) for name in (None, "int8")]
    with spinner("linking"):
        speeds = list(compare_precisions(docs, model=model, kb=kb, loads=loads, threads=threads))
    print(msgspec.json.encode(speeds).decode() if as_json else to_table(speeds))
    if plot is not None:
        with files.open_output(plot) as file:
            file.write(to_svg(speeds, title="Documents a second, one at a time").encode())
