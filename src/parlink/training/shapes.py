"""Texts in other shapes than that in which they were written: cases, headlines, without punctuation, natural."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate

import msgspec

from parlink.text.detokenize import detokenize
from parlink.train_config import Shapes
from parlink.training.examples import UNKNOWN_STARTS
from parlink.types import Document, Span

PUNCTUATION = frozenset(".,;:!?\"'()[]")


def reshape(doc: Document, shapes: Shapes, rng: random.Random) -> Document:
    """Show a document in one of the shapes, each with its probability, or else as it is."""
    names = [field.name for field in msgspec.structs.fields(Shapes)]
    weights = [getattr(shapes, name) for name in names]
    [name] = rng.choices([*names, ""], [*weights, max(0.0, 1 - sum(weights))])
    if name == "capitals":
        return capitals(doc, rng)
    return SHAPES[name](doc) if name else doc


def lower(doc: Document) -> Document:
    """Write everything in lower case."""
    return _change(doc, str.lower)


def upper(doc: Document) -> Document:
    """Write everything in upper case."""
    return _change(doc, str.upper)


def headline(doc: Document) -> Document:
    """Let every word begin with a capital letter."""
    return _capitalize(doc, lambda: True)


def capitals(doc: Document, rng: random.Random) -> Document:
    """Let some words begin with a capital letter, as people chat: what is a name cannot be told by capitals alone."""
    share = rng.uniform(0.05, 0.5)
    return _capitalize(doc, lambda: rng.random() < share)


def unpunctuated(doc: Document) -> Document:
    """Leave punctuation out, with the space before it; links of nothing else go with it."""
    after = f"{doc.text[1:]} "
    kept = [
        character not in PUNCTUATION and not (character == " " and following in PUNCTUATION)
        for character, following in zip(doc.text, after, strict=True)
    ]
    place = [0, *accumulate(map(int, kept))]
    moved = (replace_span(place, link.span) for link in doc.links)
    links = tuple(replace(link, span=span) for link, span in zip(doc.links, moved, strict=True) if span is not None)
    starts = doc.extra.get(UNKNOWN_STARTS)
    extra = dict(doc.extra)
    if isinstance(starts, list):
        extra[UNKNOWN_STARTS] = [place[start] for start in starts if isinstance(start, int) and start < len(kept)]
    text = "".join(character for character, keep in zip(doc.text, kept, strict=True) if keep)
    return replace(doc, text=text, links=links, extra=extra)


def natural(doc: Document) -> Document:
    """Take out the spaces that tokenization left; not where places are known that would have to move too."""
    return doc if doc.extra.get(UNKNOWN_STARTS) else detokenize(doc)


def replace_span(place: list[int], span: Span) -> Span | None:
    """The span where its characters are now; None if none is left."""
    start, end = place[span.start], place[span.end]
    return Span(start, end) if start < end else None


SHAPES: dict[str, Callable[[Document], Document]] = {
    "lower": lower,
    "upper": upper,
    "headline": headline,
    "unpunctuated": unpunctuated,
    "natural": natural,
}


def _capitalize(doc: Document, chosen: Callable[[], bool]) -> Document:
    before = f" {doc.text}"
    text = "".join(
        _keep_length(character, str.upper)
        if not previous.isalnum() and previous not in "'’" and chosen()
        else character
        for previous, character in zip(before, doc.text, strict=False)
    )
    return replace(doc, text=text)


def _change(doc: Document, case: Callable[[str], str]) -> Document:
    return replace(doc, text="".join(_keep_length(character, case) for character in doc.text))


def _keep_length(character: str, case: Callable[[str], str]) -> str:
    """Another case of a character, unless that is more than one, which would move all that follows."""
    changed = case(character)
    return changed if len(changed) == 1 else character
