"""What sources say of a title: how often it is used and where, and what is known of it."""

from __future__ import annotations

import math
from dataclasses import dataclass


class Mark:
    """What else is known of a title. Plain integers, since there are millions of them."""

    LEAD = 1  # the beginning of its article
    ARTICLE = 2  # its article, in some dump
    FACTS = 4
    CANDIDATE = 8  # a candidate of AIDA's training mentions
    AIDA = 16  # AIDA's training documents link to it
    CASED = 32  # only cased-by-text.tsv.gz has it
    ID = 64
    VITAL = 128
    LISTED = 256  # on a disambiguation page
    NAMED = 512  # names.tsv.gz has a name for it
    RECENT = 1024  # its article, in a dump or a list after 2007
    OURS = 2048  # our own tables have it
    PAGE = LEAD | FACTS | ID | VITAL | RECENT | OURS  # there is or was a page of that title for certain


_FEW_LINKS = 2
_STRENGTH_OF_OURS = 100_000  # our spelling stays
_LABELS = frozenset(["kamel", "wikivisual"])  # lists of labels, without the parenthesis or comma of the title


@dataclass(slots=True)
class Evidence:
    """What is known of a title, summed over sources."""

    kind: str = ""  # DBpedia class
    count: int = 0  # uses that titles.tsv.gz counted
    lists: frozenset[str] = frozenset()  # of titles.tsv.gz that have it
    text_links: int = 0
    table_links: int = 0
    marks: int = 0
    seen: int = 0  # how often cased-by-text.tsv.gz saw it
    redirects: int = 0  # names in small letters that lead to it
    fame: int = 0  # links of running text that our own tables say it is worth at least

    @property
    def is_page(self) -> bool:
        """Whether there is or was a page of that title for certain, and not only a link to it."""
        return bool(self.kind or self.marks & Mark.PAGE)

    @property
    def is_label(self) -> bool:
        """Whether no list has it but those of labels."""
        return bool(self.lists) and self.lists <= _LABELS

    @property
    def is_doubtful(self) -> bool:
        """Whether nothing tells of it but labels and a link or two, which may be redirects."""
        known = self.is_page or self.marks & (Mark.ARTICLE | Mark.AIDA | Mark.CANDIDATE | Mark.CASED)
        return not known and self.text_links <= _FEW_LINKS and self.lists <= _LABELS

    @property
    def strength(self) -> int:
        """Return how much speaks for the title, to choose between spellings."""
        ours = _STRENGTH_OF_OURS * bool(self.marks & Mark.OURS)
        return self.count + self.text_links + self.table_links + 5 * len(self.lists) + 10 * self.is_page + ours

    @property
    def links(self) -> int:
        """Return how often it was linked."""
        return self.text_links + self.table_links

    @property
    def popularity(self) -> float:
        """Return how well known the title is, in links of running text."""
        links = (
            self.text_links
            + 0.3 * math.pow(self.count, 0.8)
            + 0.1 * math.pow(self.table_links, 0.8)
            + 0.02 * math.pow(len(self.lists), 2.5)
            + bool(self.marks & Mark.VITAL)
            + 0.3 * bool(self.marks & (Mark.LEAD | Mark.ARTICLE))
        )
        return max(links, self.fame)

    def add(self, other: Evidence) -> None:
        """Take over what is known of another title that turned out to be the same."""
        cased = self.marks & other.marks & Mark.CASED
        self.kind = self.kind or other.kind
        self.count += other.count
        self.lists = unite(self.lists, other.lists)
        self.text_links += other.text_links
        self.table_links += other.table_links
        self.marks = (self.marks | other.marks) & ~Mark.CASED | cased
        self.seen += other.seen
        self.redirects += other.redirects
        self.fame = max(self.fame, other.fame)


_united: dict[tuple[frozenset[str], frozenset[str]], frozenset[str]] = {}


def unite(first: frozenset[str], second: frozenset[str]) -> frozenset[str]:
    """Return the union of two sets, one object for all equal unions, which saves gigabytes."""
    if first == second or not second:
        return first
    if (first, second) not in _united:
        union = first | second
        _united[first, second] = next((known for known in _united.values() if known == union), union)
    return _united[first, second]
