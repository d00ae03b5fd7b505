"""A linked document on a terminal: the text with its links colored, then one line a link."""

from __future__ import annotations

import re

from rich.console import Console
from rich.table import Table
from rich.text import Text

from parlink.types import Document

COLOURS = ("cyan", "magenta", "green", "yellow", "blue")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # a text must not steer the terminal


def show(doc: Document, *, console: Console | None = None) -> None:
    """Print the text with its links in place, and what each refers to."""
    console = console or Console()
    text = Text(CONTROL.sub("\N{REPLACEMENT CHARACTER}", doc.text))
    table = Table("mention", "entity", "confidence", box=None, pad_edge=False)
    for number, link in enumerate(doc.links):
        color = COLOURS[number % len(COLOURS)] if link.title is not None else "dim"
        text.stylize(f"bold underline {color}", link.span.start, link.span.end)
        surface = CONTROL.sub(" ", doc.text[link.span.start : link.span.end])
        name = link.title if link.title is not None else f"none ({link.reason})"
        score = "" if link.confidence is None else f"{link.confidence:.2f}"
        table.add_row(Text(surface, style=color), Text(name), score)
    console.print(text, soft_wrap=True)
    if doc.links:
        console.print()
        console.print(table)
