"""`parlink tune`: choose thresholds and fit the confidence on validation data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from parlink.cli.options import KbFolder
from parlink.cli.struct_options import add_options
from parlink.evaluation.conditions import Condition
from parlink.load_options import LoadOptions


@add_options(LoadOptions)
def tune(
    load: LoadOptions,
    data: Annotated[list[Path], typer.Argument(help="Gold documents, any format: validation data.")],
    model: Annotated[Path, typer.Option(help="Model folder; the values are written into it.")],
    kb: KbFolder = None,
    condition: Annotated[
        Condition | None,
        typer.Option(
            "--condition", "--candidates", help="Where candidates come from. Default: kb, or given-strict without one."
        ),
    ] = None,
    surfaces: Annotated[Path | None, typer.Option(help="Table of given-surface, JSON: surface to titles.")] = None,
    weights: Annotated[bool, typer.Option("--weights", help="Fit the weights of the score's parts too.")] = False,
    decision: Annotated[
        bool, typer.Option("--decision", help="Fit the decision, each file a dataset, in place of thresholds.")
    ] = False,
    document_names: Annotated[
        bool | None, typer.Option(help="Let a short name share the candidates of a longer one, from now on.")
    ] = None,
    document_mentions: Annotated[
        bool | None, typer.Option(help="Propose names of a document wherever they stand, from now on.")
    ] = None,
    dictionary: Annotated[
        bool | None, typer.Option(help="Propose names of the knowledge base as mentions, from now on.")
    ] = None,
    least_linked: Annotated[
        float | None, typer.Option(min=0, max=1, help="Minimum share of links among the occurrences of such a name.")
    ] = None,
    names: Annotated[
        int | None, typer.Option(min=0, help="Candidates of a mention whose names are read from now on; 0: all.")
    ] = None,
    natural: Annotated[bool, typer.Option("--natural", help="Tune on detokenized text.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the curves (SVG); default: the model folder.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Choose the thresholds that link best. Needs one pass of linking, and draws the curves.

    With --decision, fit the confidence that decides which links are made, over several datasets; with --weights too,
    the weights come first, and what the names that a shortlist leaves unread have on average.
    """
    from parlink.checkpoint.config_file import update_tuned
    from parlink.cli.bars import document_bar
    from parlink.cli.score_table import print_decision, print_tuning
    from parlink.config import LinkOptions
    from parlink.evaluation.report.tuning_curves import write_curves
    from parlink.evaluation.setup import Setup, own_kb_or
    from parlink.evaluation.tuning_run import tune_decision, tune_model

    kb = own_kb_or(kb, model=model)
    options = LinkOptions(
        document_names=document_names,
        document_mentions=document_mentions,
        dictionary=dictionary,
        least_linked=least_linked,
        names=names,
    )
    if decision:
        setups = {path.name: Setup.read([path], kb=kb, natural=natural) for path in data}
        fitted = tune_decision(setups, model, weights=weights, options=options, load=load, bar=document_bar)
        update_tuned(model, fitted.tuned)
        print_decision(fitted, as_json=as_json)
        return
    chosen = condition or (Condition.KB if kb else Condition.GIVEN_STRICT)
    setup = Setup.read(data, kb=kb, natural=natural)
    tuning, warnings = tune_model(
        setup, model, chosen, surfaces=surfaces, weights=weights, options=options, load=load, bar=document_bar
    )
    update_tuned(model, tuning.tuned)
    curves = write_curves(tuning, output or model)
    print_tuning(tuning, chosen, warnings=warnings, curves=curves, as_json=as_json)
