"""The answer of `parlink link` on standard output, in the format asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import msgspec

from parlink.data import files, jsonl
from parlink.data.brief import round_numbers
from parlink.types import Document

# What is shown of them on a terminal, where JSON is to be read; a pipe gets all.
SHOWN_OF_LINK = ("start", "end", "title", "id", "type", "description", "confidence", "reason")
SHOWN_OF_CANDIDATE = ("title", "id", "score", "prior")


class OutputFormat(StrEnum):
    """What `--format` may be."""

    JSON = "json"
    TABLE = "table"
    HTML = "html"
    CONLL = "conll"


def write_answer(doc: Document, kind: OutputFormat | None) -> None:
    """Print a document: by default as a table on a terminal, as JSON elsewhere."""
    on_terminal = sys.stdout.isatty()
    if kind is None:
        kind = OutputFormat.TABLE if on_terminal else OutputFormat.JSON
    if kind is OutputFormat.TABLE:
        from parlink.cli.show import show

        show(doc)
    elif kind is OutputFormat.HTML:
        doc.to_html(files.STANDARD_STREAM)
    elif kind is OutputFormat.CONLL:
        from parlink.data.formats import conll

        conll.write(files.STANDARD_STREAM, [doc])
    else:
        value = {"text": "", "links": []} | msgspec.json.decode(jsonl.encode(round_numbers(doc)))
        sys.stdout.buffer.write(f"{_summarize(value) if on_terminal else _encode(value)}\n".encode())


def _summarize(value: dict[str, Any]) -> str:
    """Write JSON that fits on a screen: a line for each link and each candidate, with what people look for."""
    links = value.pop("links", [])
    rows = [
        _spread_list(_pick(link, SHOWN_OF_LINK), "candidates", _pick_each(link.get("candidates", [])), indent=4)
        for link in links
    ]
    return _spread_list(value, "links", rows, indent=2)


def _pick_each(candidates: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [_pick(candidate, SHOWN_OF_CANDIDATE) for candidate in candidates]


def _pick(value: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value[name] for name in names if name in value}


def _spread_list(value: dict[str, Any], name: str, items: list[Any], *, indent: int) -> str:
    """Write an object whose last field is a list of lines; an item that is a string is JSON already."""
    lines = [item if isinstance(item, str) else _encode(item) for item in items]
    spread = "".join(f"\n{' ' * indent}{line}," for line in lines).removesuffix(",")
    return f'{_encode(value)[:-1]},"{name}":[{spread}]}}'


def _encode(value: Any) -> str:
    return msgspec.json.encode(value).decode()
