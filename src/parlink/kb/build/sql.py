"""The tables of a wiki as MySQL dumps, streamed: page, redirect, page_props.

They know pages by number. What they say of a number is gathered, and becomes facts about titles (`resolve_pages`)
once it is known, from the table `page` or from the XML dump, which title has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

from parlink.data import files
from parlink.data.wikipedia.mediawiki import skip_reason
from parlink.data.wikipedia.wikitext import normal_target
from parlink.errors import DataFormatError
from parlink.kb.build.facts import (
    ARTICLE_TITLE,
    KNOWN_TITLE,
    REDIRECT_TITLE,
    REDIRECTS_TO,
    Batch,
    Fact,
    Kind,
    PageFact,
)

_BATCH = 50_000
_MOST_COLUMNS = 64
_IDENTIFIER, _DESCRIPTION, _DISAMBIGUATION = "wikibase_item", "wikibase-shortdesc", "disambiguation"
_PROPERTIES = frozenset([_IDENTIFIER, _DESCRIPTION, _DISAMBIGUATION])
_COLUMN = re.compile(r"\s*+`(\w{1,64})`")
_INSERT = re.compile(r"INSERT INTO `?(\w{1,64})`?(?: \(([^()]{1,4096})\))? VALUES ?+")
_CELL = r"(?:'((?:[^'\\]++|\\.|'')*+)'|([^\s'(),;]++))"
_ESCAPE = re.compile(r"\\(.)|''", re.DOTALL)
_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}

Cells = Mapping[str, str | None]


def read(path: Path, *, source: int) -> Iterator[Batch]:
    """Read a dump in batches; a broken statement is an error that names its line."""
    batch = Batch()
    for table, cells in rows(path):
        batch.entries += 1
        batch.size += sum(len(cell or "") for cell in cells.values())
        if (fact := _TABLES[table](cells)) is not None:
            batch.page_facts.append(fact)
        if batch.entries % _BATCH == 0:
            yield batch
            batch = Batch()
    yield batch


def rows(path: Path) -> Iterator[tuple[str, Cells]]:
    """Yield the table and the cells of every row that a dump inserts; NULL is None."""
    columns: list[str] = []
    creating = False
    for number, raw in files.lines(path):
        line = raw.decode(errors="replace")
        if line.startswith("CREATE TABLE"):
            creating, columns = True, []
        elif creating and (column := _COLUMN.match(line)):
            columns.append(column[1])
        elif line.startswith("INSERT INTO"):
            creating = False
            yield from _parse_insert(line, columns, path, number)
    if not columns:
        raise DataFormatError("no table found; give page.sql, redirect.sql or page_props.sql of a wiki", path=path)


def _parse_insert(line: str, columns: list[str], path: Path, number: int) -> Iterator[tuple[str, Cells]]:
    head = _INSERT.match(line)
    if head is None or head[1] not in _TABLES:
        known = ", ".join(_TABLES)
        raise DataFormatError(f"inserts into none of the tables {known}: {line[:60]!r}", path=path, line=number)
    names = [name.strip(" `") for name in head[2].split(",")] if head[2] else columns
    if not 0 < len(names) <= _MOST_COLUMNS:
        raise DataFormatError(f"the columns of {head[1]} are not given before its rows", path=path, line=number)
    row = re.compile(rf"\({','.join([_CELL] * len(names))}\)\s*+([,;])\s*+", re.DOTALL)
    place, end = head.end(), ","
    while end == ",":
        match = row.match(line, place)
        if match is None:
            message = f"wanted a row of {len(names)} values, got {line[place : place + 60]!r}"
            raise DataFormatError(message, path=path, line=number)
        values = match.groups()
        place, end = match.end(), values[-1]
        cells = zip(values[:-1:2], values[1:-1:2], strict=True)
        yield head[1], {name: _unescape(text, plain) for name, (text, plain) in zip(names, cells, strict=True)}


def _unescape(text: str | None, plain: str | None) -> str | None:
    if text is None:
        return None if plain == "NULL" else plain
    if "\\" not in text and "'" not in text:
        return text
    return _ESCAPE.sub(lambda match: "'" if match[1] is None else _ESCAPED.get(match[1], match[1]), text)


def _read_page(cells: Cells) -> PageFact | None:
    if cells.get("page_namespace") != "0":
        return None
    title = normal_target(cells.get("page_title") or "")
    what = REDIRECT_TITLE if cells.get("page_is_redirect") == "1" else ARTICLE_TITLE
    return _page_fact(cells.get("page_id"), what, title)


def _read_redirect(cells: Cells) -> PageFact | None:
    if cells.get("rd_namespace") != "0" or cells.get("rd_interwiki"):
        return None
    return _page_fact(cells.get("rd_from"), REDIRECTS_TO, normal_target(cells.get("rd_title") or ""))


def _read_property(cells: Cells) -> PageFact | None:
    name = cells.get("pp_propname")
    if name not in _PROPERTIES or name is None:
        return None
    value = " ".join((cells.get("pp_value") or "").split())
    return _page_fact(cells.get("pp_page"), name, value or name)


def _page_fact(page: str | None, what: str, value: str) -> PageFact | None:
    return PageFact(int(page), what, value) if page and page.isdecimal() and len(page) < 19 and value else None


_TABLES: dict[str, Callable[[Cells], PageFact | None]] = {
    "page": _read_page,
    "redirect": _read_redirect,
    "page_props": _read_property,
}


def resolve_pages(page_facts: Iterable[tuple[PageFact, int]], *, source: int) -> Iterator[Fact]:
    """Turn what is known of page numbers, sorted, into facts about titles; a number without a title says nothing."""
    for _, group in groupby(page_facts, key=lambda counted: counted[0].page):
        values = {fact.what: fact.value for fact, _ in group}
        if (title := values.get(ARTICLE_TITLE)) is not None and REDIRECTS_TO not in values:
            reason = skip_reason(title, "text")
            yield Fact(title, "", Kind.LEFT_OUT, reason) if reason else Fact(title, "", Kind.NAME, str(source))
        if (title := values.get(ARTICLE_TITLE) or values.get(KNOWN_TITLE)) is not None:
            yield from _state_properties(title, values)
        title = values.get(REDIRECT_TITLE) or title
        if title is not None and values.get(REDIRECTS_TO, title) != title:
            yield Fact(values[REDIRECTS_TO], "", Kind.REDIRECT, title)


def _state_properties(title: str, values: Mapping[str, str]) -> Iterator[Fact]:
    kinds = {_IDENTIFIER: Kind.IDENTIFIER, _DESCRIPTION: Kind.DESCRIPTION, _DISAMBIGUATION: Kind.FLAGGED}
    for what, kind in kinds.items():
        if what in values:
            yield Fact(title, "", kind, values[what])
