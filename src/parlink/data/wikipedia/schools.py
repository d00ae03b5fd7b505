"""Wikipedia for Schools as training documents; links whose target was removed are remembered by their start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from parlink.data import files
from parlink.data.identifiers import Resolve
from parlink.data.wikipedia.articles import entity_title
from parlink.data.wikipedia.repeats import mark_repeats
from parlink.errors import DataFormatError
from parlink.types import Document, Link, Span


class _Paragraph(msgspec.Struct):
    text: str
    links: list[tuple[int, int, str]] = []
    deleted_link_starts: list[int] = []


class _Article(msgspec.Struct):
    title: str
    paragraphs: list[_Paragraph]


def read(
    path: Path | str,
    *,
    resolve: Resolve | None = None,
    repeats: bool = False,
    counts: Counter[str] | None = None,
) -> Iterator[Document]:
    """Yield a document for each article, a line per paragraph.

    `extra` has `deleted_link_starts`: the characters at which a mention starts whose entity is unknown, so that
    training can leave them out of the detection loss. Links to dates and numbers are dropped.
    """
    counts = Counter() if counts is None else counts
    decoder = msgspec.json.Decoder(_Article)
    for number, line in files.lines(path):
        try:
            article = decoder.decode(line)
            doc = _make_document(article, resolve, counts)
        except (msgspec.DecodeError, UnicodeError, ValueError) as error:
            raise DataFormatError(
                f"not an article of Wikipedia for Schools: {error}", path=path, line=number
            ) from error
        yield mark_repeats(doc, page_title=article.title) if repeats else doc


def _make_document(article: _Article, resolve: Resolve | None, counts: Counter[str]) -> Document:
    links: list[Link] = []
    unknown: list[int] = []
    offset = 0
    for paragraph in article.paragraphs:
        unknown += [offset + start for start in paragraph.deleted_link_starts]
        for start, end, title in paragraph.links:
            resolved = entity_title(title, resolve, counts)
            if end > len(paragraph.text):
                raise ValueError(f"the link [{start}, {end}) ends outside its paragraph of {len(paragraph.text)}")
            if resolved is not None:
                links.append(Link(Span(offset + start, offset + end), resolved))
        offset += len(paragraph.text) + 1
    counts["documents"] += 1
    counts["links"] += len(links)
    text = "\n".join(paragraph.text for paragraph in article.paragraphs)
    return Document(text, article.title, tuple(links), extra={"deleted_link_starts": unknown})
