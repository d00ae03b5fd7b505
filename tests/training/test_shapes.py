"""Texts in other shapes, with their links at the right characters."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents import documents
from parlink.errors import ConfigError
from parlink.train_config import Shapes
from parlink.training.examples import UNKNOWN_STARTS
from parlink.training.shapes import SHAPES, capitals, headline, lower, reshape, unpunctuated, upper
from parlink.types import Document
from tiny_training import marked

DOC = marked("In [St. Ives|St Ives] , the band [O'Hara & Co.|Band] ( of [Zürich] ) plays.")


def shown(doc: Document) -> list[str]:
    return [doc.text[link.span.start : link.span.end] for link in doc.links]


def test_each_shape_is_what_its_name_says() -> None:
    assert lower(DOC).text == "in st. ives , the band o'hara & co. ( of zürich ) plays."
    assert upper(DOC).text == "IN ST. IVES , THE BAND O'HARA & CO. ( OF ZÜRICH ) PLAYS."
    assert headline(DOC).text == "In St. Ives , The Band O'Hara & Co. ( Of Zürich ) Plays."
    assert unpunctuated(DOC).text == "In St Ives the band OHara & Co of Zürich plays"
    assert shown(unpunctuated(DOC)) == ["St Ives", "OHara & Co", "Zürich"]
    assert shown(SHAPES["natural"](DOC)) == shown(DOC)


def test_capitals_stand_at_some_words_and_nothing_else_changes() -> None:
    texts = [capitals(DOC, random.Random(seed)).text for seed in range(20)]
    words = Counter(word for text in texts for word in text.split())
    assert {text.casefold() for text in texts} == {DOC.text.casefold()}
    assert 0 < words["Plays."] < 20
    assert words["band"] + words["Band"] == 20
    assert words["Plays."] + words["plays."] == 20
    assert words["O'Hara"] == 20


@given(documents(), st.sampled_from(["lower", "upper", "headline", "unpunctuated"]))
def test_links_stay_on_their_letters(doc: Document, name: str) -> None:
    new = SHAPES[name](doc)
    letters = ["".join(filter(str.isalnum, text)).casefold() for text in shown(doc)]
    kept = ["".join(filter(str.isalnum, text)).casefold() for text in shown(new)]
    assert [text for text in kept if text] == [text for text in letters if text]


def test_known_starts_move_along() -> None:
    doc = Document("A (B) C", extra={UNKNOWN_STARTS: [0, 3, 6]})
    new = unpunctuated(doc)
    assert [new.text[start] for start in new.extra[UNKNOWN_STARTS]] == ["A", "B", "C"]
    assert SHAPES["natural"](doc) is doc


def test_shapes_come_as_often_as_they_should() -> None:
    rng, shapes = random.Random(0), Shapes(lower=0.2, upper=0.3)
    assert reshape(DOC, Shapes(capitals=1.0), rng).text.casefold() == DOC.text.casefold()
    drawn = Counter(reshape(DOC, shapes, rng).text for _ in range(2000))
    assert drawn[lower(DOC).text] / 2000 == pytest.approx(0.2, abs=0.04)
    assert drawn[upper(DOC).text] / 2000 == pytest.approx(0.3, abs=0.04)
    assert drawn[DOC.text] / 2000 == pytest.approx(0.5, abs=0.04)
    with pytest.raises(ConfigError, match="at most 1 together"):
        Shapes(lower=0.6, upper=0.6)
