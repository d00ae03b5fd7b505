"""2,000 documents of random Unicode: every link is a proper span of its document, alone and in a batch, out and in."""

from __future__ import annotations

import random
import sys
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest

from parlink.config import LinkOptions
from parlink.data import jsonl
from parlink.linking.linker import Linker
from parlink.types import Document, Span
from tiny_kb import tiny_kb
from tiny_model import tiny_checkpoint

pytestmark = pytest.mark.slow
DOCUMENTS = 2_000
PIECES = (
    "Hamburg",
    "Kent",
    "HSV",
    "e\u0301",
    "\u200d",
    "\U0001f468\u200d\U0001f469",
    "\u202e",
    "\x00",
    "\r\n",
    "ﷺ",
    " ",
)
OPTIONS = LinkOptions(mention_threshold=-10.0)  # nearly everything is a mention


def make_text(rng: random.Random) -> str:
    """Letters of all planes, words that are known, and what is known to be difficult; no surrogates."""
    parts = []
    for _ in range(rng.randint(0, 40)):
        if rng.random() < 0.5:
            parts.append(rng.choice(PIECES))
        else:
            letter = chr(rng.randrange(sys.maxunicode + 1))
            parts.append("" if "\ud800" <= letter <= "\udfff" else letter)
    return "".join(parts)


def test_random_unicode_is_linked_and_comes_back(tmp_path: Path) -> None:
    kb, rng = tiny_kb(tmp_path), random.Random(16)
    linker = Linker(tiny_checkpoint(seed=3, spread=2.0), kb=kb, source=kb)
    docs = [Document(make_text(rng), id=str(number)) for number in range(DOCUMENTS)]
    linked = list(linker.stream(docs, options=OPTIONS))
    assert [(doc.id, doc.text) for doc in linked] == [(doc.id, doc.text) for doc in docs]
    assert sum(len(doc.links) for doc in linked) > DOCUMENTS
    for doc in linked:
        assert doc.error is None
        check_spans(doc)
    jsonl.write(tmp_path / "linked.jsonl", linked)
    again = list(jsonl.read(tmp_path / "linked.jsonl"))
    assert [(doc.text, [link.span for link in doc.links]) for doc in again] == [
        (doc.text, [link.span for link in doc.links]) for doc in linked
    ]
    for doc, alone in ((doc, linker.link(doc.text, options=OPTIONS)) for doc in linked[:200]):
        assert [link.span for link in alone.links] == [link.span for link in doc.links]


def check_spans(doc: Document) -> None:
    """Spans are in order, disjoint, inside of the text, hold more than space, and cut no letter from its accent."""
    spans = [link.span for link in doc.links]
    assert all(before.end <= after.start for before, after in pairwise(spans))
    for span in spans:
        assert is_whole(doc.text, span), (doc.text, span)


def is_whole(text: str, span: Span) -> bool:
    surface, after = text[span.start : span.end], text[span.end : span.end + 1]
    visible = any(not letter.isspace() and unicodedata.category(letter) != "Cc" for letter in surface)
    return span.end <= len(text) and visible and not (after and unicodedata.combining(after))
