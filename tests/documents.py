"""Documents for property tests: emoji, combining marks, line ends of every kind, links at the very edges."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from parlink.types import Candidate, Document, Link, Span

PIECES = [
    "Zürich",
    "e\u0301",
    "👩‍👩‍👧",
    "🇳🇴",
    "\r\n",
    "\n",
    "\r",
    "\t",
    " ",
    "\u200b",
    "\u2028",
    "\x85",
    "\x0b",
    '"',
    "'",
    "\\",
    "\0",
]
TEXT = st.lists(st.sampled_from(PIECES) | st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).map(
    "".join
)
TITLES = st.lists(
    st.sampled_from(["Kent", "Süd", "(river)", "C#", "100%", "a/b", "e\u0301", "🦊", "?"]), min_size=1, max_size=3
)
title = TITLES.map(" ".join)
number = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def spans(draw: st.DrawFn, length: int) -> Span:
    start = draw(st.just(0) | st.integers(0, length - 1))
    return Span(start, draw(st.just(length) | st.integers(start + 1, length)))


@st.composite
def documents(draw: st.DrawFn, extras: st.SearchStrategy[Any] | None = None) -> Document:
    """Anything that a document may hold; `extras` makes values of unknown fields."""
    text = draw(TEXT)
    extra = st.just({}) if extras is None else st.dictionaries(st.sampled_from(["kind", "x", "ü"]), extras, max_size=2)
    short = st.none() | st.text(max_size=4)
    candidate = st.builds(
        Candidate,
        title=title,
        id=short,
        score=number,
        prior=number,
        lm=number,
        classifier=number,
        coherence=number,
        match_type=short,
        url=short,
        extra=extra,
    )
    link = st.builds(
        Link,
        span=spans(len(text)),
        title=st.none() | title,
        id=short,
        type=short,
        description=short,
        confidence=number,
        reason=short,
        source=short,
        mention_logit=number,
        mention_probability=number,
        candidates=st.lists(candidate, max_size=2).map(tuple),
        url=short,
        extra=extra,
    )
    return Document(
        text,
        draw(st.text(max_size=4)),
        tuple(draw(st.lists(link, max_size=3))),
        draw(st.none() | st.lists(spans(len(text)), max_size=2).map(tuple)),
        draw(short),
        draw(short),
        draw(extra),
    )


ids = st.none() | st.integers(1, 10**7).map("Q{}".format) | st.sampled_from(["P-77", "sku:5 b", "ü", "a\tb\nc"])
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
names |= st.sampled_from(["1 EU", "a/b", "http://x.y/z", "."])


@st.composite
def plain_documents(draw: st.DrawFn) -> Document:
    """What every format for links can hold: an id, a text, mentions, their titles and ids."""
    text = draw(TEXT)
    links = draw(st.lists(st.tuples(spans(len(text)), st.none() | title, ids), max_size=4))
    return Document(
        text, draw(names), tuple(Link(span, name, number if name else None) for span, name, number in links)
    )
