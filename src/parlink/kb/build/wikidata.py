"""A Wikidata JSON dump: an array of items, one a line, in the language that is asked for.

An item becomes an entity whose title is that of the language's Wikipedia, else its label there; an item that has
neither is passed over, and so are items about disambiguation pages, lists, categories and templates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from parlink.data import files
from parlink.data.parallel import Engine, batches, unless_small
from parlink.errors import DataFormatError
from parlink.kb.build.entity_types import NO_ENTITIES, is_known
from parlink.kb.build.facts import Batch, Fact, Kind

_LINES = 2000  # that a worker parses at once


class _Text(msgspec.Struct):
    value: str


class _Page(msgspec.Struct):
    title: str


class _Claim(msgspec.Struct):
    mainsnak: dict[str, Any] = {}
    rank: str = "normal"


class _Claims(msgspec.Struct):
    P31: list[_Claim] = []


class _Item(msgspec.Struct):
    """What we read of an item; PHP writes a map that is empty as a list."""

    id: str
    type: str = "item"
    labels: dict[str, _Text] | list[Any] = {}
    descriptions: dict[str, _Text] | list[Any] = {}
    aliases: dict[str, list[_Text]] | list[Any] = {}
    claims: _Claims | list[Any] = msgspec.field(default_factory=_Claims)
    sitelinks: dict[str, _Page] | list[Any] = {}


@dataclass(frozen=True)
class _Reader:
    path: Path
    source: int
    language: str

    def parse(self, lines: list[tuple[int, bytes]]) -> Batch:
        """Turn lines into facts."""
        batch = Batch(entries=len(lines), size=sum(len(line) for _, line in lines))
        for number, line in lines:
            try:
                item = msgspec.json.decode(line, type=_Item)
            except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
                message = f"not an item of a Wikidata JSON dump, wanted one a line: {error}"
                raise DataFormatError(message, path=self.path, line=number) from error
            _add_item(batch, item, reader=self)
        return batch


def read(path: Path, *, source: int, language: str = "en", engine: Engine = map) -> Iterator[Batch]:
    """Read a dump in batches, in order; a broken line is an error that names it."""
    items = ((number, item) for number, line in files.lines(path) if (item := line.strip().rstrip(b",")) not in b"[]")
    return unless_small(path, engine)(_Reader(path, source, language).parse, batches(items, _LINES))


def _add_item(batch: Batch, item: _Item, *, reader: _Reader) -> None:
    if item.type != "item":
        batch.skipped["property or lexeme"] += 1
        return
    classes = _classes(item)
    page = _get(item.sitelinks, f"{reader.language}wiki")
    label = _get(item.labels, reader.language) or _get(item.labels, "mul")
    title = _plain(page.title if page else label.value if label else "")
    if NO_ENTITIES.intersection(classes):
        batch.skipped["disambiguation, list or other page of a wiki"] += 1
        if page and title:
            batch.facts[Fact(title, "", Kind.FLAGGED, "Wikidata")] += 1
    elif not title:
        batch.skipped["no name in the language"] += 1
    else:
        batch.facts[Fact(title, item.id, Kind.NAME, str(reader.source))] += 1
        _add_names(batch, item, title, reader.language)
        written = next(filter(is_known, classes), classes[0] if classes else None)
        if written:
            batch.facts[Fact(title, item.id, Kind.TYPE, written)] += 1


def _add_names(batch: Batch, item: _Item, title: str, language: str) -> None:
    """Add description and names; an entity of which many wikis have a page is seen that often under its title."""
    if (description := _get(item.descriptions, language)) and (text := _plain(description.value)):
        batch.facts[Fact(title, item.id, Kind.DESCRIPTION, text)] += 1
    batch.facts[Fact(title, item.id, Kind.ALIAS, title)] += max(1, len(item.sitelinks))
    label = _get(item.labels, language)
    for name in ([label] if label else []) + (_get(item.aliases, language) or []):
        if (surface := _plain(name.value)) and surface != title:
            batch.facts[Fact(title, item.id, Kind.ALIAS, surface)] += 1


def _classes(item: _Item) -> list[str]:
    """Return what the item is an instance of, the preferred statements first."""
    claims = item.claims.P31 if isinstance(item.claims, _Claims) else []
    ranked = sorted(
        (claim for claim in claims if claim.rank != "deprecated"), key=lambda claim: claim.rank != "preferred"
    )
    numbers = []
    for claim in ranked:
        value = claim.mainsnak.get("datavalue")
        target = value.get("value") if isinstance(value, dict) else None
        number = target.get("id") if isinstance(target, dict) else None
        if isinstance(number, str):
            numbers.append(number)
    return numbers


def _get(values: dict[str, Any] | list[Any], key: str) -> Any:
    return values.get(key) if isinstance(values, dict) else None


def _plain(name: str) -> str:
    return " ".join(name.split())
