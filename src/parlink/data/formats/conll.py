"""AIDA-CoNLL TSV: a token a line; a mention's tokens have B or I, the surface, the YAGO name and the Wikipedia URL.

White space: the text is its tokens joined by single spaces. Tokens are the pieces between white space, cut at the
edges of mentions too; a line break of the text is a blank line in the file, and reads as a space. `normalize`
applies this rule to a document, and what it gives is kept exactly.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from parlink.data import files
from parlink.data.formats.losses import count_changes, count_losses
from parlink.data.identifiers import Resolve, page_url, target
from parlink.data.titles import url_title
from parlink.errors import DataFormatError
from parlink.types import Document, Link, Span

_START = "-DOCSTART-"
_NIL = "--NME--"
_TOKEN = re.compile(r"\S+")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    link: Link | None = None  # the mention that it is part of
    breaks: bool = False  # a line of the text ends before it


def read(path: Path | str, *, resolve: Resolve | None = None, losses: Counter[str] | None = None) -> Iterator[Document]:
    """Read documents; a document's id is what `-DOCSTART-` has in brackets."""
    doc_id: str | None = None
    rows: list[list[str]] = []
    for number, raw in files.lines(path):
        line = files.decode(raw, path=path, line=number)
        if line == _START or line.startswith(_START + " "):
            if doc_id is not None:
                yield _document(doc_id, rows, resolve, losses)
            doc_id, rows = line[len(_START) :].strip().removeprefix("(").removesuffix(")"), []
        else:
            rows.append(_row(line, doc_id, path=path, line_number=number))
    if doc_id is not None:
        yield _document(doc_id, rows, resolve, losses)


def write(path: Path | str, documents: Iterable[Document], *, losses: Counter[str] | None = None) -> None:
    """Write documents; `losses` counts what the format cannot hold, mentions that overlap among it."""
    losses = Counter() if losses is None else losses
    with files.open_output(path) as file:
        for doc in documents:
            count_losses(doc, losses, held=("id", "url"))
            if _one_line(doc.id) != doc.id:
                losses["white space in the id of a document"] += 1
            file.write(f"{_START} ({_one_line(doc.id)})\n".encode())
            file.write("".join(_lines(_tokens(doc, losses), losses)).encode() + b"\n")


def normalize(doc: Document) -> Document:
    """Return what is left of a document once it is written and read: see the rule at the top of this file."""
    tokens = _tokens(doc, Counter())
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token.text) + 1)
    links: dict[int, Link] = {}
    for place, token in enumerate(tokens):
        if token.link is not None:
            first = links[id(token.link)].span.start if id(token.link) in links else starts[place]
            links[id(token.link)] = Link(Span(first, starts[place + 1] - 1), token.link.title)
    return Document(" ".join(token.text for token in tokens), _one_line(doc.id), tuple(links.values()))


def _row(line: str, doc_id: str | None, *, path: Path | str, line_number: int) -> list[str]:
    if doc_id is None:
        message = f"got {line!r} before the first {_START}; every document starts with one"
        raise DataFormatError(message, path=path, line=line_number)
    row = line.split("\t")
    is_mention = len(row) > 3 and row[1] in ("B", "I")
    if not row[0] or " " in row[0] or not (is_mention or row[1:2] in ([], ["O"])):
        message = f"got {line!r}; wanted a token, or a token, B or I, the surface, the YAGO name and the Wikipedia URL"
        raise DataFormatError(message, path=path, line=line_number)
    return row


def _document(
    doc_id: str, rows: Sequence[Sequence[str]], resolve: Resolve | None, losses: Counter[str] | None
) -> Document:
    links: list[Link] = []
    start, inside = 0, False
    for row in rows:
        end = start + len(row[0])
        tag = row[1] if len(row) > 1 else "O"
        if tag == "I" and inside:
            links[-1] = replace(links[-1], span=Span(links[-1].span.start, end))
        elif tag != "O":
            found = target(_identifiers(row), resolve=resolve, losses=losses)
            links.append(Link(Span(start, end), found.title, found.id, url=found.url))
        inside = tag != "O"
        start = end + 1
    return Document(" ".join(row[0] for row in rows), doc_id, tuple(links))


def _identifiers(row: Sequence[str]) -> list[str]:
    if row[3] == _NIL:
        return []
    if len(row) > 4 and row[4]:
        return [row[4]]
    return [page_url(_ESCAPE.sub(lambda match: chr(int(match[1], 16)), row[3]).replace("_", " "))]


def _tokens(doc: Document, losses: Counter[str]) -> list[_Token]:
    """Cut a text at white space and at the edges of its mentions; mentions that overlap an earlier one are left out."""
    tokens: list[_Token] = []
    last = 0
    for start, end, link in _stretches(doc, losses):
        for match in _TOKEN.finditer(doc.text, start, end):
            breaks = "\n" in doc.text[last : match.start()] and bool(tokens) and link is None
            tokens.append(_Token(match[0], link, breaks))
            last = match.end()
    return tokens


def _stretches(doc: Document, losses: Counter[str]) -> Iterator[tuple[int, int, Link | None]]:
    """Yield the mentions, and the text between them."""
    last = 0
    for link in sorted(doc.links, key=lambda link: (link.span.start, -link.span.end)):
        if link.span.start < last or not doc.text[link.span.start : link.span.end].strip():
            losses["mention that overlaps another, or is only white space"] += 1
            continue
        yield last, link.span.start, None
        yield link.span.start, link.span.end, link
        last = link.span.end
    yield last, len(doc.text), None


def _lines(tokens: Sequence[_Token], losses: Counter[str]) -> Iterator[str]:
    before: Link | None = None
    surfaces: defaultdict[int, list[str]] = defaultdict(list)
    for token in tokens:
        surfaces[id(token.link)].append(token.text)
    for place, token in enumerate(tokens):
        columns = [token.text]
        if token.link is not None:
            surface = " ".join(surfaces[id(token.link)])
            columns += ["I" if token.link is before else "B", surface, *_entity(token.link)]
            if token.link is not before:
                count_changes(token.link, target(_identifiers(columns)), losses)
        elif token.text == _START:
            columns.append("O")
        before = token.link
        yield ("\n" if token.breaks and place else "") + "\t".join(columns) + "\n"


def _entity(link: Link) -> list[str]:
    return [_NIL] if link.title is None else [url_title(link.title), page_url(link.title)]


def _one_line(name: str) -> str:
    return " ".join(name.split())
