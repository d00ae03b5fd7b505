"""`parlink link`: link one text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from parlink.cli.link_output import OutputFormat, write_answer
from parlink.cli.options import KbFolder, Model
from parlink.cli.struct_options import add_options
from parlink.config import LinkOptions
from parlink.load_options import LoadOptions


@add_options(LinkOptions, LoadOptions)
def link(
    options: LinkOptions,
    load: LoadOptions,
    text: Annotated[str, typer.Argument(help="The text; - reads it from standard input.")] = "-",
    model: Model = None,
    kb: KbFolder = None,
    surfaces: Annotated[
        Path | None, typer.Option(help="Take candidates from this JSON object: surface to a list of titles.")
    ] = None,
    top: Annotated[int, typer.Option(min=0, help="Candidates shown for each mention.")] = 5,
    html: Annotated[Path | None, typer.Option(help="Also write an HTML page with the links in place.")] = None,
    output_format: Annotated[
        OutputFormat | None,
        typer.Option("--format", help="Default: table on a terminal, json elsewhere; json is abridged on a terminal."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    explained: Annotated[
        bool, typer.Option("--explain", help="Explain the decision: all parts of every score.")
    ] = False,
) -> None:
    """Find the entities in a text. Prints a table on a terminal, JSON when piped."""
    from parlink.bars import share_bar
    from parlink.data.brief import keep_top
    from parlink.kb.surface_table import SurfaceTable
    from parlink.linking.explain import explain
    from parlink.linking.linker import Linker

    source = None if surfaces is None else SurfaceTable.load(surfaces)
    linker = Linker.load(model, kb=kb, source=source, device=load.device, precision=load.precision)
    asked = _standard_input() if text == "-" else _not_a_file(text)
    if explained:
        typer.echo(explain(linker, asked, options=options, top=top), nl=False)
        return
    with share_bar(f"linking {len(asked):,} characters") as progress:
        doc = keep_top(linker.link(asked, options=options, progress=progress), top)
    if html is not None:
        doc.to_html(html)
    write_answer(doc, OutputFormat.JSON if as_json else output_format)


def _not_a_file(text: str) -> str:
    from parlink.errors import TextError

    try:
        is_file = Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or with a zero byte in it
        return text
    if is_file:
        raise TextError(
            f"{text}: is a file, and `parlink link` wants the text itself; give a file of text as "
            f"parlink link < {text}, and one of documents to parlink annotate {text} -o linked.jsonl"
        )
    return text


def _standard_input() -> str:
    import sys

    from parlink.errors import TextError

    if sys.stdin.isatty():
        print("type the text, and Ctrl-D at the end", file=sys.stderr)
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise TextError(f"standard input is not UTF-8 ({error}); convert it first") from error
