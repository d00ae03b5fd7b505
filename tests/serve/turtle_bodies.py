"""Turtle for schemathesis: contexts with any text, some of them with a phrase."""

from __future__ import annotations

import schemathesis
from hypothesis import strategies as st

from parlink.data.formats import nif
from parlink.types import Document, Link, Span

KINDS = ("application/x-turtle", "text/turtle")


def contexts(texts: list[tuple[str, bool]]) -> bytes:
    docs = []
    for number, (text, given) in enumerate(texts):
        links = (Link(Span(0, len(text))),) if text and given else ()
        docs.append(Document(text, f"http://example.org/{number}", links))
    return nif.encode(docs)


TEXT = st.tuples(st.text(st.characters(codec="utf-8"), max_size=60), st.booleans())

for kind in KINDS:
    schemathesis.openapi.media_type(kind, st.lists(TEXT, min_size=1, max_size=3).map(contexts))
