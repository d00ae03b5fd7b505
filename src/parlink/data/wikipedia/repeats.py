"""Mark the later mentions of what an article links once: the same surface again, and the article's own title."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from parlink.types import Document, Link, Span

_WORD = re.compile(r"\w+")
_PARENTHESIS = re.compile(r" \([^()]*\)$")


def mark_repeats(doc: Document, *, page_title: str | None = None) -> Document:
    """Add a link wherever a linked surface, or the article's own title, stands again as whole words.

    A surface that the article links to two titles is left alone. Added links have `extra` `{"added": "repeat"}`.
    """
    titles = _map_surfaces(doc, page_title)
    spans = _find(doc.text, titles, doc.links)
    if not spans:
        return doc
    added = [Link(span, titles[doc.text[span.start : span.end]], extra={"added": "repeat"}) for span in spans]
    return replace(doc, links=tuple(sorted([*doc.links, *added], key=lambda link: link.span)))


def _map_surfaces(doc: Document, page_title: str | None) -> dict[str, str]:
    titles: dict[str, set[str | None]] = defaultdict(set)
    for link in doc.links:
        titles[doc.text[link.span.start : link.span.end]].add(link.title)
    if page_title:
        titles[_PARENTHESIS.sub("", page_title)].add(page_title)
    unambiguous = {surface: next(iter(meant)) for surface, meant in titles.items() if len(meant) == 1}
    return {surface: title for surface, title in unambiguous.items() if title is not None}


def _find(text: str, titles: dict[str, str], links: Sequence[Link]) -> list[Span]:
    """Find the longest known surface at each word that no link covers."""
    by_word: dict[str, list[str]] = defaultdict(list)
    for surface in sorted(titles, key=len, reverse=True):
        if first := _WORD.match(surface):
            by_word[first[0]].append(surface)
    taken = sorted(link.span for link in links)
    spans: list[Span] = []
    free, covered = 0, 0  # where the last find ends; the first link that may still cover a word
    for word in _WORD.finditer(text):
        start = word.start()
        while covered < len(taken) and taken[covered].end <= start:
            covered += 1
        limit = taken[covered].start if covered < len(taken) else len(text)
        surfaces = by_word.get(word[0], ()) if start >= free else ()
        end = next((start + len(s) for s in surfaces if _stands(s, text, start, limit)), None)
        if end is not None:
            spans.append(Span(start, end))
            free = end
    return spans


def _stands(surface: str, text: str, start: int, limit: int) -> bool:
    end = start + len(surface)
    return (
        end <= limit and text.startswith(surface, start) and not (_WORD.match(text, end) and _WORD.match(surface[-1]))
    )
