"""Links of documents as training examples: the words around each, its candidates in a knowledge base, the right one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from parlink.kb.view import View
from parlink.text.letter_case import letter_cases
from parlink.text.tokenizer import IntArray, Tokenizer
from parlink.text.windows import covering_ranges
from parlink.types import Candidate, Document, Link

WINDOW = 512  # tokens of a document that are read together
MOST = 30  # candidates of a mention


@dataclass(frozen=True, slots=True)
class TrainingLink:
    """A link whose entity has rivals."""

    first: int  # its first token in the window
    last: int  # its last, inclusive
    candidates: tuple[Candidate, ...]
    right: int  # which of them it links to


@dataclass(frozen=True, slots=True)
class LinkedWindow:
    """A stretch of a document with its links."""

    ids: IntArray  # (length,) without special tokens
    links: tuple[TrainingLink, ...]
    case: IntArray  # (length,) how words are capitalized


def linked_windows(documents: Iterable[Document], tokenizer: Tokenizer, kb: View) -> Iterator[LinkedWindow]:
    """Cut documents into windows, and keep those with a link whose entity has rivals in the knowledge base."""
    for doc in documents:
        links = [link for link in doc.links if link.title is not None]
        tokens = tokenizer.encode(doc.text)
        firsts, lasts = covering_ranges(tokens, [link.span for link in links])
        case = letter_cases(doc.text, tokens.start)
        by_window: dict[int, list[TrainingLink]] = {}
        for link, first, last in zip(links, firsts.tolist(), lasts.tolist(), strict=True):
            window = first // WINDOW
            end = min(last, (window + 1) * WINDOW - 1)
            example = None if last < first else _example(doc, link, first - window * WINDOW, end - window * WINDOW, kb)
            if example is not None:
                by_window.setdefault(window, []).append(example)
        for window, examples in by_window.items():
            place = slice(window * WINDOW, (window + 1) * WINDOW)
            yield LinkedWindow(tokens.ids[place].astype(np.int64), tuple(examples), case[place])


def _example(doc: Document, link: Link, first: int, last: int, kb: View) -> TrainingLink | None:
    """The link with its candidates; None if they lack its entity, or have no other."""
    assert link.title is not None
    title = kb.resolve(link.title, ids=False)
    candidates = tuple(kb.candidates(doc.surface(link), limit=MOST))
    places = [place for place, candidate in enumerate(candidates) if candidate.title == title]
    return TrainingLink(first, last, candidates, places[0]) if places and len(candidates) > 1 else None
