"""`parlink link`: link one text."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Literal

import typer

LONG = 8000  # characters, which take about two seconds


def link(
    text: Annotated[str, typer.Argument(help="The text; - reads it from standard input.")] = "-",
    model: Annotated[
        Path | None, typer.Option(help="Model folder; default: the model that comes with parlink.")
    ] = None,
    kb: Annotated[Path | None, typer.Option(help="Knowledge base folder; default: the model's own.")] = None,
    surfaces: Annotated[
        Path | None, typer.Option(help="Take candidates from this JSON object: surface to a list of titles.")
    ] = None,
    mention_threshold: Annotated[
        float | None, typer.Option(help="Least log-odds that a mention starts; default: the model's own.")
    ] = None,
    search: Annotated[Literal["rank", "beam"], typer.Option(help="Score every candidate, or search by beam.")] = "rank",
    beams: Annotated[int, typer.Option(min=1, help="Width of the beam.")] = 5,
    max_candidates: Annotated[int, typer.Option(min=1, help="Most candidates of a mention.")] = 30,
    fallback: Annotated[
        bool | None, typer.Option(help="Search all titles for a mention without candidates; default: the model's own.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with the links in place.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on a terminal too.")] = False,
) -> None:
    """Find the entities in a text: colored on a terminal, JSON when piped."""
    import sys

    from parlink.cli.bars import share_bar
    from parlink.cli.show import show
    from parlink.config import LinkOptions
    from parlink.data import files, jsonl
    from parlink.kb.surface_table import SurfaceTable
    from parlink.linking.linker import Linker
    from parlink.pages.linked_text import to_html

    linker = Linker.load(model, kb=kb, source=None if surfaces is None else SurfaceTable.load(surfaces))
    options = LinkOptions(
        mention_threshold=mention_threshold,
        search=search,
        beams=beams,
        max_candidates=max_candidates,
        fallback=fallback,
    )
    asked = _standard_input() if text == "-" else _not_a_file(text)
    with nullcontext() if len(asked) < LONG else share_bar(f"linking {len(asked):,} characters") as progress:
        doc = linker.link(asked, options=options, progress=progress)
    if html is not None:
        with files.written(html) as file:
            file.write(to_html(doc).encode())
    if as_json or not sys.stdout.isatty():
        sys.stdout.buffer.write(jsonl.encode(doc))
    else:
        show(doc)


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
