"""A linked document on a terminal: the text with its links colored, then a table with what each refers to."""

from __future__ import annotations

import re

from rich.console import Console
from rich.table import Table
from rich.text import Text

from parlink.types import Document, Link

# As on the page: each of parlink's types has a color; where nothing has a type, mentions take turns.
TYPE_COLORS = {
    "person": "blue",
    "place": "yellow",
    "organization": "red",
    "event": "bright_red",
    "work": "magenta",
    "species": "green",
    "product": "cyan",
}
TURNS = ("cyan", "magenta", "green", "yellow", "blue")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # neither a text nor a name may steer the terminal
WIDE = 100  # columns from which the bars are long
TYPE = 12  # the most columns of a type
NARROW = 60  # columns below which there is room for the names and the confidence only


def show(doc: Document, *, console: Console | None = None) -> None:
    """Print the text with its links in place, and what each refers to."""
    console = console or Console()
    text = Text(CONTROL.sub("\N{REPLACEMENT CHARACTER}", doc.text))
    for number, link in enumerate(doc.links):
        text.stylize(f"bold underline {_color(doc, number)}", link.span.start, link.span.end)
    console.print(text, soft_wrap=True)
    if doc.links:
        console.print()
        console.print(_table(doc, width=console.width, plain=console.options.ascii_only))


def _table(doc: Document, *, width: int, plain: bool) -> Table:
    """Make the table; what no link has, a type or a description, gets no column."""
    wide, narrow = width >= WIDE, width < NARROW
    typed = not narrow and any(link.type is not None for link in doc.links)
    described = not narrow and any(link.description is not None for link in doc.links)
    length = 10 if wide else 5
    sure = length + 5  # the bar, a space and "0.95"
    kind = min(TYPE, max((len(link.type or "type") for link in doc.links), default=0)) if typed else 0
    beside = sure + (kind + 2 if typed else 0) + (width // 6 + 2 if described else 0)
    room = (width - beside - 4) // 2  # of a name: the longest must leave the others theirs
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("mention", "entity"):
        table.add_column(column, no_wrap=True, overflow="ellipsis", max_width=room)
    if typed:
        table.add_column("type", no_wrap=True, max_width=TYPE, overflow="ellipsis")
    if described:
        table.add_column("description")  # the one that gives way where there is too little room
    table.add_column("confidence", no_wrap=True, min_width=sure)
    for number, link in enumerate(doc.links):
        surface = _cell(doc.text[link.span.start : link.span.end], _color(doc, number))
        name = _cell(
            f"none ({link.reason})" if link.title is None else link.title, "" if link.title is not None else "dim"
        )
        facts = [_cell(link.type)] if typed else []
        facts += [_cell(link.description, "dim")] if described else []
        table.add_row(surface, name, *facts, _bar(link, length=length, plain=plain))
    return table


def _color(doc: Document, number: int) -> str:
    link = doc.links[number]
    if link.title is None:
        return "dim"
    if all(other.type is None for other in doc.links):
        return TURNS[number % len(TURNS)]
    return TYPE_COLORS.get(link.type or "", "bright_cyan")


def _cell(value: str | None, style: str = "") -> Text:
    return Text(" ".join(CONTROL.sub(" ", value or "").split()), style=style, no_wrap=True, overflow="ellipsis")


def _bar(link: Link, *, length: int, plain: bool) -> Text:
    """Draw how sure a link is; a mention without an entity has no bar."""
    if link.title is None or link.confidence is None:
        return Text()
    filled = round(length * link.confidence)
    full, empty = ("#", "-") if plain else ("\N{BOX DRAWINGS HEAVY HORIZONTAL}", "\N{BOX DRAWINGS LIGHT HORIZONTAL}")
    return Text.assemble((full * filled, "green"), (empty * (length - filled), "dim"), f" {link.confidence:.2f}")
