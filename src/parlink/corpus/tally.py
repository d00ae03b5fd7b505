"""What became of documents, in numbers that add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from parlink.types import Document

NO_REASON = "no reason given"


@dataclass(slots=True)
class Tally:
    """Counts over documents; the titles are at most those of the knowledge base, so memory is bounded."""

    documents: int = 0  # that are in the output
    unreadable: int = 0  # places of the input where there is no document
    unlinked: int = 0  # documents that could not be linked; they are in the output too, and say why
    tokens: int = 0
    links: int = 0
    nil: Counter[str] = field(default_factory=Counter)  # by reason
    titles: Counter[str] = field(default_factory=Counter)  # linked to

    @property
    def errors(self) -> int:
        """How many lines the file of errors has."""
        return self.unreadable + self.unlinked

    def add(self, other: Tally) -> None:
        """Add the counts of other documents."""
        self.documents += other.documents
        self.unreadable += other.unreadable
        self.unlinked += other.unlinked
        self.tokens += other.tokens
        self.links += other.links
        self.nil.update(other.nil)
        self.titles.update(other.titles)

    def count(self, doc: Document, *, tokens: int) -> None:
        """Add a linked document."""
        self.documents += 1
        self.tokens += tokens
        self.unlinked += doc.error is not None
        for link in doc.links:
            if link.title is None:
                self.nil[link.reason or NO_REASON] += 1
            else:
                self.links += 1
                self.titles[link.title] += 1

    def to_json(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def from_json(value: Mapping[str, Any]) -> Tally:
    """Read counts from plain data."""
    return Tally(**{**value, "nil": Counter(value["nil"]), "titles": Counter(value["titles"])})
