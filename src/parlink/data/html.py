"""The text of an HTML page, and where each of its characters stands in the page."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, replace
from html import unescape
from html.parser import HTMLParser
from itertools import accumulate

from parlink.types import Document, Link, Span

_HIDDEN = frozenset({"script", "style", "template", "noscript", "head"})
_INLINE = re.compile(
    "a|abbr|b|bdi|bdo|cite|code|del|dfn|em|font|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|time|tt|u|var|wbr"
)
_REFERENCE = re.compile(r"&(#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)")  # as `unescape` has it


@dataclass(frozen=True, slots=True)
class Stripped:
    """A page without its markup; `starts[i]` and `ends[i]` are where character i of the text stands in the page."""

    text: str
    starts: array[int]
    ends: array[int]

    def locate(self, span: Span) -> Span:
        """Return the place in the page of a span of the text, markup inside it included."""
        return Span(self.starts[span.start], self.ends[span.end - 1])

    def restore(self, doc: Document, page: str) -> Document:
        """Turn a document about the text into one about the page."""
        spans = None if doc.spans is None else tuple(self.locate(span) for span in doc.spans)
        links: Iterable[Link] = (replace(link, span=self.locate(link.span)) for link in doc.links)
        return replace(doc, text=page, links=tuple(links), spans=spans)


def strip_html(page: str) -> Stripped:
    """Take the tags, comments, scripts and styles out of a page, and decode its character references.

    A tag that begins or ends a block, a line or a cell becomes a line end, so that words on its two sides stay apart.
    """
    parser = _Parser(page)
    parser.feed(page)
    parser.close()
    return Stripped("".join(parser.pieces), parser.starts, parser.ends)


class _Parser(HTMLParser):
    """Gather the text piece by piece, and the place of each character."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self._page = page
        self.pieces: list[str] = []
        self.starts, self.ends = array("q"), array("q")
        self._lines = [0, *accumulate(len(line) + 1 for line in page.split("\n"))]
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what hides the text behind it."""
        if tag in _HIDDEN:
            self._hidden.append(tag)
        self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        """Note that the text is seen again."""
        if tag in self._hidden:
            del self._hidden[self._hidden.index(tag) :]
        self._break(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take `<br/>` for `<br>`."""
        self._break(tag)

    def handle_data(self, data: str) -> None:
        """Keep a text, and the place of each character; `data` has its character references decoded."""
        if self._hidden:
            return
        place, length = self._offset(), 0
        while length < len(data):
            match = _REFERENCE.match(self._page, place)
            decoded = unescape(match[0]) if match else self._page[place]
            end = match.end() if match else place + 1
            length += len(decoded)
            self._add(decoded, place, end)
            place = end

    def _break(self, tag: str) -> None:
        if not _INLINE.fullmatch(tag) and self.pieces and self.pieces[-1] != "\n" and not self._hidden:
            self._add("\n", self._offset(), self._offset() + 1)

    def _add(self, text: str, start: int, end: int) -> None:
        self.pieces.append(text)
        self.starts.extend([start] * len(text))
        self.ends.extend([end] * len(text))

    def _offset(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column
