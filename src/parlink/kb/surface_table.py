"""A table from surface form to candidates, made of the candidates that a data set gives for its mentions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from parlink.data import files
from parlink.errors import DataFormatError
from parlink.types import Candidate, Document


class _Row(msgspec.Struct, omit_defaults=True):
    title: str
    prior: float | None = None
    id: str | None = None


@dataclass(frozen=True)
class SurfaceTable:
    """Candidates by exact surface form, the most probable first.

    A surface has the union of the candidates of all its mentions. The prior of a title is its mean
    over those mentions that have priors (0 where such a mention lacks the title), brought to sum 1.
    """

    rows: Mapping[str, tuple[Candidate, ...]]

    @classmethod
    def from_documents(cls, documents: Iterable[Document]) -> SurfaceTable:
        """Collect the candidates of every link, NIL ones too; titles of the links themselves are not looked at."""
        lists: dict[str, list[tuple[Candidate, ...]]] = defaultdict(list)
        for doc in documents:
            for link in doc.links:
                if link.candidates:
                    lists[doc.text[link.span.start : link.span.end]].append(link.candidates)
        return cls({surface: _unite(occurrences) for surface, occurrences in lists.items()})

    @classmethod
    def load(cls, path: Path | str) -> SurfaceTable:
        """Read a JSON object of surface to a list of titles, or of objects with `title` and perhaps `prior`, `id`."""
        with files.open_input(path) as file:
            raw = file.read()
        try:
            table = msgspec.json.decode(raw, type=dict[str, list[str | _Row]])
        except (msgspec.DecodeError, UnicodeError) as error:
            message = f"wanted a JSON object of surface to a list of titles: {error}"
            raise DataFormatError(message, path=path) from error
        return cls(
            {surface: tuple(sorted(map(_candidate, rows), key=_rank)) for surface, rows in table.items() if rows}
        )

    def save(self, path: Path | str) -> None:
        """Write the table as JSON, one surface a line."""
        with files.open_output(path) as file:
            file.write(b"{\n")
            for number, (surface, candidates) in enumerate(self.rows.items()):
                file.write(b",\n" * (number > 0) + _encode(surface) + b": " + _encode([_row(c) for c in candidates]))
            file.write(b"\n}\n")

    def candidates(self, surface: str, *, limit: int) -> Sequence[Candidate]:
        """Return at most `limit` candidates, the most probable first."""
        return self.rows.get(surface, ())[:limit]

    def __len__(self) -> int:
        return len(self.rows)


def _unite(occurrences: Sequence[tuple[Candidate, ...]]) -> tuple[Candidate, ...]:
    first: dict[str, Candidate] = {}
    mass: dict[str, float] = defaultdict(float)
    for candidates in occurrences:
        for candidate in candidates:
            first.setdefault(candidate.title, candidate)
            mass[candidate.title] += candidate.prior or 0.0
    whole = sum(mass.values())
    united = [
        Candidate(title, id=first[title].id, prior=mass[title] / whole if whole > 0 else None)
        for title in sorted(first)  # not the order of the data, which may put the gold title first
    ]
    return tuple(sorted(united, key=_rank))


def _rank(candidate: Candidate) -> float:
    return -(candidate.prior or 0.0)


def _candidate(row: str | _Row) -> Candidate:
    return Candidate(row) if isinstance(row, str) else Candidate(row.title, id=row.id, prior=row.prior)


def _row(candidate: Candidate) -> _Row:
    return _Row(title=candidate.title, prior=candidate.prior, id=candidate.id)


def _encode(value: Any) -> bytes:
    return msgspec.json.encode(value)
