"""Other names in the place of some mentions, so that a model learns to read names, not only to remember them."""

from __future__ import annotations

import random
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from parlink.training.examples import UNKNOWN_STARTS
from parlink.types import Candidate, Document, Link, Span

Names = Mapping[int, Sequence[Link]]  # by how many words they have


def gather_names(documents: Iterable[Document], *, most: int = 8192) -> Names:
    """Gather the names that are titles themselves, one link each: what they refer to can be told without context.

    Of more than `most`, those whose hash is smallest are kept, which is as good as at random and needs little memory.
    """
    named: dict[str, Link] = {}
    for doc in documents:
        for link in doc.links:
            if link.title and link.title == _surface(doc, link) and _is_name(link.title):
                candidates = tuple(Candidate(candidate.title) for candidate in link.candidates)
                named[link.title] = Link(link.span, link.title, candidates=candidates)
        if len(named) > 2 * most:
            named = _choose(named, most)
    names: dict[int, list[Link]] = defaultdict(list)
    for title, link in _choose(named, most).items():
        names[len(title.split())].append(link)
    return names


def _choose(named: dict[str, Link], most: int) -> dict[str, Link]:
    chosen = set(sorted(named, key=lambda title: (zlib.crc32(title.encode()), title))[:most])
    return {title: link for title, link in named.items() if title in chosen}


def swap(doc: Document, names: Names, *, share: float, rng: random.Random) -> Document:
    """Put other names, of as many words, in the place of a share of those linked; the rest of the text stays."""
    old = sorted(doc.links, key=lambda link: link.span)
    nested = any(before.span.overlaps(after.span) for before, after in pairwise(old))
    if nested or doc.extra.get(UNKNOWN_STARTS):  # places that would have to move too
        return doc
    text, links, done = "", [], 0
    for link in old:
        surface = _surface(doc, link)
        alike = names.get(len(surface.split()), ()) if link.title and _is_name(surface) else ()
        new = rng.choice(alike) if alike and rng.random() < share else link
        text += doc.text[done : link.span.start]
        start, done = len(text), link.span.end
        text += surface if new is link else new.title or ""
        links.append(replace(new, span=Span(start, len(text))))
    return replace(doc, text=text + doc.text[done:], links=tuple(links))


def _surface(doc: Document, link: Link) -> str:
    return doc.text[link.span.start : link.span.end]


def _is_name(surface: str) -> bool:
    """Whether this is written as a name, which a headline and an abbreviation do not show."""
    return surface[:1].isupper() and not surface.isupper()
