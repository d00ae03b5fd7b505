"""`parlink evaluate`: score a model, or anyone's predictions, against gold data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from parlink.cli.options import Model
from parlink.cli.struct_options import add_options
from parlink.config import LinkOptions
from parlink.errors import ParlinkError
from parlink.evaluation.conditions import Condition
from parlink.load_options import LoadOptions


@add_options(LinkOptions, LoadOptions)
def evaluate(
    options: LinkOptions,
    load: LoadOptions,
    data: Annotated[
        list[Path],
        typer.Argument(help="Gold documents, any format; several files form one set."),
    ],
    model: Model = None,
    kb: Annotated[
        Path | None,
        typer.Option(help="Knowledge base folder; its redirects apply to all titles. Default: the model's own."),
    ] = None,
    condition: Annotated[
        list[Condition] | None,
        typer.Option(
            "--condition",
            "--candidates",
            help="Where candidates come from; may be given several times. Default: kb, or given-surface without one.",
        ),
    ] = None,
    surfaces: Annotated[
        Path | None, typer.Option(help="Table of given-surface, JSON: surface to titles. Default: made from DATA.")
    ] = None,
    predictions: Annotated[Path | None, typer.Option(help="Score these predictions instead of a model.")] = None,
    save_predictions: Annotated[Path | None, typer.Option(help="Write the links that were scored, JSONL.")] = None,
    compare: Annotated[Path | None, typer.Option(help="Another system's predictions, for a paired test.")] = None,
    seen: Annotated[list[Path] | None, typer.Option(help="Training data: scores for seen and unseen entities.")] = None,
    redirects: Annotated[Path | None, typer.Option(help="JSON object: title to current title, for all titles.")] = None,
    weak: Annotated[bool, typer.Option("--weak", help="Overlapping spans match, not only equal ones.")] = False,
    natural: Annotated[bool, typer.Option("--natural", help="Score on detokenized text.")] = False,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one line for each condition.")] = False,
) -> None:
    """Score links as GERBIL does. Linking, detection and disambiguation, with intervals and errors by kind."""
    from parlink.cli.bars import document_bar
    from parlink.cli.score_table import print_reports
    from parlink.data import files
    from parlink.evaluation.report.html import to_html
    from parlink.evaluation.setup import Setup, own_kb_or, score_model, score_predictions

    for output in (save_predictions, report):
        files.check_name(output)
    if predictions is None:
        kb = own_kb_or(kb, model=model)
    setup = Setup.read(data, kb=kb, redirects=redirects, seen=seen or [], compare=compare, weak=weak, natural=natural)
    if predictions is not None:
        if model is not None or save_predictions is not None:
            raise ParlinkError("--predictions are scored as they are; leave out --model and --save-predictions")
        reports = [score_predictions(setup, predictions, condition or [])]
    else:
        conditions = condition or [Condition.KB if kb else Condition.GIVEN_SURFACE]
        reports = score_model(
            setup,
            model,
            conditions,
            options=options,
            surfaces=surfaces,
            save=save_predictions,
            load=load,
            bar=document_bar,
        )
    if report is not None:
        with files.open_output(report) as file:
            file.write(to_html(reports, title=", ".join(path.name for path in data)).encode())
    print_reports(reports, as_json=as_json)
