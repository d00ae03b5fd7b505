"""Find the names of a knowledge base in a text: the longest at each place, at word boundaries, case-aware.

A name of several words is found however it is spelled, one of a single word only as the knowledge base spells it:
"Finance" may be a department, and "finance" is a word. Of a knowledge base of one's own all names are found; of one as
large as Wikipedia, which has a title for nearly every word, those that are links often enough where they occur.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from parlink.kb import surfaces
from parlink.kb.names import SHORT_TITLE, Names
from parlink.kb.surfaces import EXACT, FOLDED, STRIPPED
from parlink.kb.view import View
from parlink.types import Span

OWN_TITLES = 100_000  # a knowledge base with more has names that are words, and must say how often they are links
LONGEST = 8  # words of a name
REMEMBERED, LONGEST_REMEMBERED = 1 << 16, 64  # spellings and their characters: some 30 MB at most
# Scripts without spaces: every character may begin and end a name.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_][\u0300-\u036f]*)+")
_BREAK = re.compile(r"[,;:!?()\[\]{}\"“”|\t]|\n\s*\n|\w{3}\.\s")  # no name goes on behind these
_TAIL = re.compile(r"['’]s\b|[^\w\s]{1,2}")
_ARTICLE = re.compile(r"\bthe\s+$", re.IGNORECASE)


class _Word(NamedTuple):
    start: int
    end: int
    key: str
    breaks: bool  # no name goes on from the word before to this one, unless it is spelled exactly so


class _Words:
    """The words of a text; what they are as parts of keys is worked out where a name may start."""

    def __init__(self, text: str) -> None:
        self.text, self.spans = text, [match.span() for match in _WORD.finditer(text)]
        self._known: dict[int, _Word] = {}

    def from_here(self, first: int) -> list[_Word]:
        """The words that a name may have which begins with one of them."""
        known = self._known
        return [known.get(at) or self._read(at) for at in range(first, min(first + LONGEST, len(self.spans)))]

    def may_start(self, at: int, starts: Container[int]) -> bool:
        """Whether a name may start at a word, or at the article before it."""
        start = self.spans[at][0]
        if start in starts:
            return True
        before, end = self.spans[at - 1] if at else (0, 0)
        if end - before != len("the"):
            return False
        article = _ARTICLE.search(self.text, max(0, start - 5), start)
        return article is not None and article.start() in starts

    def _read(self, at: int) -> _Word:
        (before, behind), (start, end) = self.spans[at - 1] if at else (0, 0), self.spans[at]
        breaks = _BREAK.search(self.text, max(before, behind - 3), start) is not None
        word = self._known[at] = _Word(start, end, _letters(self.text[start:end]), breaks)
        return word


@dataclass(frozen=True, slots=True)
class Dictionary:
    """The names of a knowledge base, looked for in texts; what was looked up is remembered as long as it lives."""

    view: View
    least_linked: float  # how often a name must be a link where it occurs, if the knowledge base is large
    any_case: bool = False  # find names of a single word in any spelling
    _known: dict[tuple[str, int], bool] = field(default_factory=dict)
    _is_own: bool = field(init=False)  # whether the knowledge base is one of one's own

    def __post_init__(self) -> None:
        object.__setattr__(self, "_is_own", len(self.view) <= OWN_TITLES)

    def find(self, text: str, *, starts: Container[int] | None = None) -> list[Span]:
        """Find the longest name at each word, unless it lies within another; in text order.

        With `starts`, only names that start at one of these characters, and names of one's own.
        """
        words = _Words(text)
        if len(self._known) > REMEMBERED:
            self._known.clear()
        has_own = self._is_own or bool(self.view.changes.records)
        spans: list[Span] = []
        for first in range(len(words.spans)):
            if not (has_own or starts is None or words.may_start(first, starts)):
                continue
            span = self._longest(text, words.from_here(first))
            if span is None or (spans and span.end <= spans[-1].end):
                continue
            if starts is None or span.start in starts or self.view.linked(text[span.start : span.end]) is None:
                spans.append(span)
        return spans

    def _longest(self, text: str, words: Sequence[_Word]) -> Span | None:
        """The longest name that begins with the first of some words."""
        for count, farthest in sorted(self._lengths(words).items(), reverse=True):
            start, end = words[0].start, words[count - 1].end
            for first, last in _spellings(text, start, end):
                if self._is_name(text[first:last], farthest=farthest if (first, last) == (start, end) else EXACT):
                    return Span(first, last)
            if (
                self._is_own
                and _may_be_plural(words, count)
                and self._is_name(text[start : end - 1], farthest=farthest)
            ):
                return Span(start, end)
        return None

    def _lengths(self, words: Sequence[_Word]) -> dict[int, int]:
        """How many of the words may be a name, as their key is one, and how far its spelling may be from theirs."""
        own, size, broken = self._is_own, 0, False
        counts: dict[int, tuple[int, int]] = {}  # by how much of the key of all words theirs is
        for count, word in enumerate(words, start=1):
            broken = broken or (count > 1 and word.breaks)
            size += len(word.key)
            # Names with punctuation in them are found as they are spelled, such as "San Jose, California".
            counts[size] = count, EXACT if count == 1 or broken else STRIPPED
            if own and _may_be_plural(words, count):
                counts.setdefault(size - 1, counts[size])
        key, changes = "".join([word.key for word in words]), self.view.changes
        known = {len(prefix) for prefix in self.view.tables.key_prefixes(key)}
        if changes.records:
            known |= {size for size in counts if key[:size] in changes.spelled or key[:size] in changes.made}
        return dict(counts[size] for size in known if size in counts)

    def _is_name(self, surface: str, *, farthest: int) -> bool:
        asked = surface, farthest
        if len(surface) > LONGEST_REMEMBERED:  # two words may be a page of spaces apart
            return self._look_up(surface, farthest=farthest)
        if asked not in self._known:
            self._known[asked] = self._look_up(surface, farthest=farthest)
        return self._known[asked]

    def _look_up(self, surface: str, *, farthest: int) -> bool:
        view, key = self.view, surfaces.key(surface)
        linked = view.linked(surface)
        if linked is None:  # the knowledge base does not know, or the name was added
            often = len(view.tables) <= OWN_TITLES or key in view.changes.spelled or key in view.changes.made
        else:
            often = linked.probability >= self.least_linked
        return often and self._is_spelled(view.names(key), surface, farthest=farthest)

    def _is_spelled(self, names: Names, surface: str, *, farthest: int) -> bool:
        """Whether a name is spelled near enough to a surface; the last words alone of one are none."""
        if self.any_case and farthest == EXACT:
            farthest = FOLDED
        if (names.steps(surface) <= farthest).any():
            return True
        short = names.title[names.kind == SHORT_TITLE].tolist()
        return any(surfaces.drop_parenthesis(self.view.title(number) or "") == surface for number in short)


def _spellings(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The ranges that may be a name whose letters are those of one: with the article, or what follows, or without."""
    article = _ARTICLE.search(text, max(0, start - 5), start)
    tail = _TAIL.match(text, end)
    if tail:
        for last in range(tail.end(), end, -1):
            yield start, last
    if article:
        yield article.start(), end
    yield start, end


def _letters(word: str) -> str:
    """The part of a key that a word is."""
    folded = surfaces.fold(word)
    return folded if folded.isalnum() else "".join(filter(str.isalnum, folded))


def _may_be_plural(words: Sequence[_Word], count: int) -> bool:
    """Whether the first words may be the plural of a name of several, as "blue mussels" is."""
    return count > 1 and words[count - 1].key[1:].endswith("s")
