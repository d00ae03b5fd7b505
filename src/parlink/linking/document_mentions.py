"""Names that stand in a document again: where one mention is likely, the same words are looked at wherever they occur.

In a document about Gerhard Schröder, a further "Gerhard Schröder", "Schröder" or "GS" is proposed as a mention, though
the detector hardly sees it and the knowledge base need not know the short name.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from parlink.linking.mentions import Mention, TokenizedDocument, propose_only
from parlink.linking.overlaps import keep_longest, lies_within
from parlink.types import Span

LIKELY = 0.5  # probability of a mention from which on its name is one
LONGEST = 6  # words of a name that is taken apart
_WORD = re.compile(r"\w+")


def propose_again(texts: Sequence[TokenizedDocument], mentions: Iterable[Mention]) -> list[TokenizedDocument]:
    """The texts with nothing proposed but what repeats a likely mention of theirs; not where spans are given."""
    likely: list[list[Span]] = [[] for _ in texts]
    for mention in mentions:
        if (mention.probability or 0.0) >= LIKELY:
            likely[mention.document].append(mention.span)
    return [
        propose_only(text, find_again(text.doc.text, spans), source="document")
        for text, spans in zip(texts, likely, strict=True)
    ]


def find_again(text: str, likely: Sequence[Span]) -> list[Span]:
    """Find where the names of likely mentions, parts of them or their initials stand; not within these mentions."""
    if not likely:
        return []
    by_word: dict[str, set[str]] = defaultdict(set)
    for name in {text[span.start : span.end] for span in likely}:
        for form, word in _short_forms(name):
            by_word[word].add(form)
    longest = keep_longest(likely)
    forms = {word: sorted(names, key=len, reverse=True) for word, names in by_word.items()}
    found: list[Span] = []
    end = 0
    for match in _WORD.finditer(text):
        start, listed = match.start(), forms.get(match.group(), ())
        ends = [start + len(form) for form in listed if text.startswith(form, start)]
        whole = [place for place in ends if not _goes_on(text, place)]
        if not whole or start < end:
            continue
        end = whole[0]
        if not lies_within(Span(start, end), longest):
            found.append(Span(start, end))
    return found


def _short_forms(name: str) -> Iterator[tuple[str, str]]:
    """A name, its parts that look like names, and its initials, each with its first word."""
    words = list(_WORD.finditer(name))
    if not words or words[0].start() > 0:
        return
    yield name, words[0].group()
    if not 1 < len(words) <= LONGEST:
        return
    named = [word for word in words if _looks_like_name(word.group())]
    for at, first in enumerate(named):
        for last in named[at:]:
            yield name[first.start() : last.end()], first.group()
    for initials in {"".join(word.group()[0] for word in chosen) for chosen in (words, named)}:
        if len(initials) > 1 and initials.isalpha():
            yield initials.upper(), initials.upper()


def _looks_like_name(word: str) -> bool:
    return len(word) > 1 and not word.islower() and not word.isdecimal() and word.casefold() != "the"


def _goes_on(text: str, end: int) -> bool:
    """Whether a word goes on behind this place."""
    return end < len(text) and text[end - 1].isalnum() and (text[end].isalnum() or text[end] == "_")
