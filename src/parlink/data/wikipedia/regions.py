"""Regions of wikitext that are no prose, cut out in time linear in the text: comments, tags, templates, tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

# Patterns of this package match a text in linear time, whatever it is: repeats are possessive, and what follows a
# repeat is not in it. tests/data/wikipedia/test_linear.py counts the steps.

_VERBATIM = frozenset(["nowiki", "pre"])  # shown as it is written: [[x]] there is no link
_CODE = """math timeline source syntaxhighlight score hiero graph chem ce mapframe templatestyles templatedata"""
_ASIDE = "ref gallery imagemap"  # read by people, but not as part of the text around it
_ENTITIES = {ord(mark): f"&#{ord(mark)};" for mark in "[]{}|<>'*#:;=!-_\n"}
_NESTED = re.compile(
    r"\{\{|\}\}|(?:^|>)[:*# \t]*+\{\||^[ \t]*+\|\}(?!\})|<table\b|</table\s*+>", re.MULTILINE | re.IGNORECASE
)
_OPENED_BY = {"}}": "{{", "|}": "{|", "</table": "<table"}


def _compile_tags(names: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"<!--|<(/?)({'|'.join(sorted(names))})(?=[\s/>])[^<>]*+>", re.IGNORECASE)


_CODE_TAGS = _compile_tags(_VERBATIM.union(_CODE.split()))
_ALL_TAGS = _compile_tags(_VERBATIM.union(_CODE.split(), _ASIDE.split()))


def cut_code(text: str) -> str:
    """Drop comments and code; what stands in <nowiki> or <pre> is kept with its marks written as entities."""
    return _cut_tags(text, _CODE_TAGS) if "<" in text else text


def cut_asides(text: str) -> str:
    """Drop references, galleries and image maps as well."""
    return _cut_tags(text, _ALL_TAGS) if "<" in text else text


def cut_nested(text: str) -> str:
    """Drop templates and tables; what is opened and never closed stays."""
    opened: list[tuple[str, int]] = []
    waiting: Counter[str] = Counter()  # how many of each kind are open
    regions: list[tuple[int, int]] = []
    for match in _NESTED.finditer(text):
        mark = match[0].strip(">:*# \t\n").lower()
        kind = _OPENED_BY.get(mark)
        if kind is None:
            opened.append((mark, match.start()))
            waiting[mark] += 1
        elif waiting[kind]:
            start = _pop(opened, kind, waiting)
            while regions and regions[-1][0] > start:
                regions.pop()
            regions.append((start, match.end()))
    return _cut(text, regions)


def _pop(opened: list[tuple[str, int]], kind: str, waiting: Counter[str]) -> int:
    """Close the last region of a kind, and forget those that were opened after it."""
    while True:
        last, start = opened.pop()
        waiting[last] -= 1
        if last == kind:
            return start


def _cut(text: str, regions: Sequence[tuple[int, int]]) -> str:
    pieces, last = [], 0
    for start, end in regions:
        pieces.append(text[last:start])
        last = end
    return "".join([*pieces, text[last:]])


def _cut_tags(text: str, tags: re.Pattern[str]) -> str:
    """Cut what the tags enclose, each up to the first that closes it; one that nothing closes stays."""
    tokens = list(tags.finditer(text))
    pieces, last = [], 0
    for token, closing in zip(tokens, _first_closings(tokens), strict=True):
        if token.start() < last:
            continue  # inside what was cut
        if token[2] is None:
            found = text.find("-->", token.end())
            end = len(text) if found < 0 else found + len("-->")
        elif token[0].endswith("/>"):
            end = token.end()
        elif closing is None:
            continue
        else:
            end = closing.end()
        pieces.append(text[last : token.start()])
        last = end
        if closing is not None and token[2].lower() in _VERBATIM:
            pieces.append(text[token.end() : closing.start()].translate(_ENTITIES))
    return "".join([*pieces, text[last:]]) if pieces or last else text


def _first_closings(tokens: Sequence[re.Match[str]]) -> list[re.Match[str] | None]:
    """Return for each opening tag the first later one that closes it."""
    nearest: dict[str, re.Match[str]] = {}
    closings: list[re.Match[str] | None] = []
    for token in reversed(tokens):
        name = (token[2] or "").lower()
        is_opening = token[2] is not None and not token[1] and not token[0].endswith("/>")
        closings.append(nearest.get(name) if is_opening else None)
        if token[1]:
            nearest[name] = token
    return closings[::-1]
