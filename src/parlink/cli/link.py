"""`parlink link`: link one text."""

from __future__ import annotations

import re
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from parlink.cli.link_output import OutputFormat, write_answer
from parlink.cli.options import KbFolder, Model
from parlink.cli.struct_options import add_options
from parlink.config import LinkOptions
from parlink.load_options import LoadOptions

FILE_NAME = re.compile(r"[\w./~-]+\.(txt|md|html?|xml|pdf|docx?|jsonl?|csv|tsv|parquet|conll|gz|bz2|zst|zip)")


@add_options(LinkOptions, LoadOptions)
def link(
    options: LinkOptions,
    load: LoadOptions,
    text: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT", help="The text, in quotes; - or nothing reads it from standard input."),
    ] = None,
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
    from parlink.bars import share_bar, spinner
    from parlink.data.brief import keep_top
    from parlink.kb.surface_table import SurfaceTable
    from parlink.linking.explain import explain

    asked = _read(text or ["-"])
    source = None if surfaces is None else SurfaceTable.load(surfaces)
    with spinner("opening the model"):
        from parlink.linking.keep import keep
        from parlink.linking.linker import Linker

        linker = keep(Linker.load(model, kb=kb, source=source, device=load.device, precision=load.precision))
    if explained:
        typer.echo(explain(linker, asked, options=options, top=top), nl=False)
        return
    with share_bar(f"linking {len(asked):,} characters") as progress:
        doc = keep_top(linker.link(asked, options=options, progress=progress), top)
    if html is not None:
        doc.to_html(html)
    write_answer(doc, OutputFormat.JSON if as_json else output_format)


def _read(words: list[str]) -> str:
    """Return the text that is meant; a file is not meant, and neither are several arguments."""
    from parlink.errors import TextError

    text, *others = words
    if (path := next(filter(_is_file, words), None)) is not None:
        raise TextError(
            f"{path}: is a file, and `parlink link` wants the text itself; give a file of text as "
            f"parlink link < {path}, and one of documents to parlink annotate {path} -o linked.jsonl"
        )
    if others:
        whole = quote(" ".join(words))
        raise TextError(f"got {len(words)} arguments, and `parlink link` wants one text; put quotes around it: {whole}")
    if text == "-":
        return _standard_input()
    if FILE_NAME.fullmatch(text):
        from parlink.cli.bars import tell

        tell(f"{text}: there is no such file; it is linked as a text")
    return text


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or with a zero byte in it
        return False


def _standard_input() -> str:
    import sys

    from parlink.errors import TextError

    if sys.stdin.isatty():
        print("type the text, and Ctrl-D at the end", file=sys.stderr)
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise TextError(f"standard input is not UTF-8 ({error}); convert it first") from error
