"""Natural prose from space-joined tokens: the spaces that a tokenizer put at punctuation are taken out again."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import Enum

from parlink.types import Document, Span

_OPENING = frozenset(["(", "[", "{", "``", "“", "‘", "«", "$", "£", "€", "¥", "#"])
_CLOSING = frozenset([",", ".", ";", ":", "!", "?", "...", "…", ")", "]", "}", "''", "”", "’", "»", "%"])
_CLITIC = re.compile(r"(?:['’](?:s|re|ve|ll|d|m)|n['’]t)", re.IGNORECASE)
_CURRENCY = re.compile(r"[A-Z]{1,3}\$")
_LONGEST_QUOTATION = 80  # tokens; a quotation mark left open for longer was never closed


class _Side(Enum):
    """The neighbor that a token is written against."""

    LEFT = "left"
    RIGHT = "right"
    NEITHER = "neither"


def detokenize(doc: Document) -> Document:
    """Take out the spaces before closing and after opening punctuation; links and spans keep their surfaces.

    Only single spaces between tokens go, so a link's surface changes by spaces inside it at most.
    """
    spans = [link.span for link in doc.links] + list(doc.spans or ())
    dropped = _dropped_spaces(doc.text, spans)
    text = "".join(doc.text[a:b] for a, b in zip([0, *[at + 1 for at in dropped]], [*dropped, None], strict=True))
    return replace(
        doc,
        text=text,
        links=tuple(replace(link, span=_shift(link.span, dropped)) for link in doc.links),
        spans=None if doc.spans is None else tuple(_shift(span, dropped) for span in doc.spans),
    )


def _dropped_spaces(text: str, spans: Iterable[Span]) -> list[int]:
    tokens = list(re.finditer(r"\S+", text))
    sides = _sides([token.group() for token in tokens])
    edges = {place for span in spans for place in (span.start, span.end - 1)}  # a span's edge stays where it is
    return [
        left.end()
        for left, right, a, b in zip(tokens, tokens[1:], sides, sides[1:], strict=False)
        if (a is _Side.RIGHT or b is _Side.LEFT) and text[left.end() : right.start()] == " " and left.end() not in edges
    ]


def _shift(span: Span, dropped: Sequence[int]) -> Span:
    return Span(span.start - bisect_left(dropped, span.start), span.end - bisect_left(dropped, span.end))


def _sides(tokens: Sequence[str]) -> list[_Side]:
    opened: dict[str, int] = {}  # quotation mark -> where it was opened
    return [_side(token, tokens[at - 1] if at else "", at, opened) for at, token in enumerate(tokens)]


def _side(token: str, before: str, at: int, opened: dict[str, int]) -> _Side:
    if token in ('"', "'"):
        return _quotation_mark(token, before, at, opened)
    if token in _CLOSING or _CLITIC.fullmatch(token):
        return _Side.LEFT
    if token in _OPENING or _CURRENCY.fullmatch(token):
        return _Side.RIGHT
    return _Side.NEITHER


def _quotation_mark(token: str, before: str, at: int, opened: dict[str, int]) -> _Side:
    if at - opened.pop(token, -_LONGEST_QUOTATION) < _LONGEST_QUOTATION:
        return _Side.LEFT
    if token == "'" and before[-1:] in ("s", "S"):  # a possessive: the players' union
        return _Side.LEFT
    opened[token] = at
    return _Side.RIGHT
