"""The entities and the page links as the files that `parlink kb build` takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from parlink.data import files
from recipes.wikipedia.kinds.decide import Kind
from recipes.wikipedia.names import NameEvidence, Sign
from recipes.wikipedia.pool import Pool
from recipes.wikipedia.weights import scale_popularity, weigh_names


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON lines."""
    encoder = msgspec.json.Encoder()
    with files.open_output(path) as file:
        for line in lines:
            file.write(encoder.encode(line) + b"\n")


def describe_entities(
    pool: Pool,
    titles: Iterable[str],
    *,
    names: Mapping[str, Mapping[str, NameEvidence]],
    kinds: Mapping[str, Kind],
    ids: Mapping[str, str],
) -> Iterator[dict[str, Any]]:
    """Yield each title with all that the knowledge base should know of it, in the order of the alphabet."""
    for title in sorted(titles):
        evidence, names_of_title, kind = pool.titles[title], names.get(title, {}), kinds[title]
        counts = weigh_names(title, evidence, names_of_title, is_person=kind.type == "person")
        redirects = [
            surface
            for surface, name in names_of_title.items()
            if name.signs & Sign.REDIRECT and surface != title and surface not in pool.titles
        ]
        values: dict[str, Any] = {
            "title": title,
            "id": ids.get(title),
            "type": kind.type,
            "kind": evidence.kind,
            "description": kind.description,
            "popularity": scale_popularity(evidence),
            "aliases": [{"surface": surface, "count": count} for surface, count in counts.items()],
            "redirects": redirects,
        }
        yield {name: value for name, value in values.items() if value not in (None, "", [])}
