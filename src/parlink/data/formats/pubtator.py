"""PubTator: `PMID|t|title`, `PMID|a|abstract`, then a mention a line: PMID, start, end, surface, type, identifier.

The text is the title, a space and the abstract, which is how the offsets count. Documents are apart by blank lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parlink.data import files, jsonl
from parlink.data.identifiers import Resolve, target
from parlink.errors import DataFormatError
from parlink.types import Document

_SECTION = re.compile(r"([^|\t]+)\|([a-z])\|(.*)", re.DOTALL)
_NIL = ("", "-", "-1")


@dataclass(slots=True)
class _Article:
    """An article as far as it was read."""

    id: str
    line: int
    sections: list[str] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)


def read(path: Path | str, *, resolve: Resolve | None = None, losses: Counter[str] | None = None) -> Iterator[Document]:
    """Read articles; an identifier that no knowledge base knows is the title, and relations are left out."""
    losses = Counter() if losses is None else losses
    article: _Article | None = None
    for number, raw in files.lines(path):
        line = files.decode(raw, path=path, line=number)
        section = _SECTION.fullmatch(line)
        if section and (article is None or article.id != section[1]):
            if article is not None:
                yield _document(article, losses, path=path)
            article = _Article(section[1], number)
        if article is None:
            message = f"got {line!r}; wanted PMID|t|title, PMID|a|abstract, then mentions"
            raise DataFormatError(message, path=path, line=number)
        if section:
            article.sections.append(section[3])
        else:
            _add_row(article, line.split("\t"), resolve, losses, path=path, line=number)
    if article is not None:
        yield _document(article, losses, path=path)


def _add_row(
    article: _Article,
    row: list[str],
    resolve: Resolve | None,
    losses: Counter[str],
    *,
    path: Path | str,
    line: int,
) -> None:
    if len(row) > 2 and row[0] == article.id and not row[1].isdecimal():
        losses["PubTator relation (only mentions are read)"] += 1
        return
    if len(row) < 5 or row[0] != article.id or not row[2].isdecimal():
        message = f"got {row!r}; wanted PMID, start, end, surface, type and identifier, by tabs"
        raise DataFormatError(message, path=path, line=line)
    identifiers = [] if len(row) < 6 or row[5].strip() in _NIL else [row[5].strip()]
    told = target(identifiers, resolve=resolve, losses=losses)
    link = {"start": int(row[1]), "end": int(row[2]), "title": told.title, "id": told.id, "type": row[4]}
    article.links.append({**link, "surface": row[3]})


def _document(article: _Article, losses: Counter[str], *, path: Path | str) -> Document:
    text = " ".join(article.sections)
    for link in article.links:
        if link.pop("surface") != text[link["start"] : link["end"]]:
            losses["text of a mention that is not the text at its offsets (the offsets are used)"] += 1
    return jsonl.from_json({"id": article.id, "text": text, "links": article.links}, path=path, line=article.line)
