from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.text.detokenize import detokenize
from parlink.types import Candidate, Document, Link, Span

WORDS = [
    "Elbe",
    "the",
    "players",
    "won",
    "3-2",
    "U.S.",
    '"',
    "'",
    ",",
    ".",
    "(",
    ")",
    "'s",
    "n't",
    "%",
    "$",
    "--",
    "``",
]


@pytest.mark.parametrize(
    ("tokens", "prose"),
    [
        ('" We did n\'t lose , " he said .', '"We didn\'t lose," he said.'),
        ("The club ( founded in 1921 ) 's coach : gone !", "The club (founded in 1921)'s coach: gone!"),
        ("the players ' union of Elbe 'S North", "the players' union of Elbe'S North"),
        ("he called it ' a draw ' , then left", "he called it 'a draw', then left"),
        ("It cost $ 3 , or A$ 4 -- up 5 % .", "It cost $3, or A$4 -- up 5%."),
        ('" one " and " two "', '"one" and "two"'),
        ("Already natural, isn't it? (Yes.)", "Already natural, isn't it? (Yes.)"),
        ("two  ,  spaces\n. stay", "two  ,  spaces\n. stay"),
        ("", ""),
        (" , ", " , "),
    ],
)
def test_prose(tokens: str, prose: str) -> None:
    assert detokenize(Document(tokens)).text == prose


def test_a_quotation_that_is_never_closed_does_not_turn_the_rest_around() -> None:
    text = '" start ' + "word " * 100 + 'then " quoted " end'
    assert detokenize(Document(text)).text.endswith('then "quoted" end')


def test_links_spans_and_everything_else_are_carried_along() -> None:
    text = "Miller 's ( Kent ) side"
    candidates = (Candidate("Kent", prior=1.0),)
    links = (Link(Span(0, 9), "Miller's", candidates=candidates, extra={"a": 1}), Link(Span(12, 16), None))
    doc = detokenize(Document(text, id="7", links=links, spans=(Span(12, 16),), kb="k", extra={"b": 2}))
    assert doc.text == "Miller's (Kent) side"
    assert doc.links[0] == Link(Span(0, 8), "Miller's", candidates=candidates, extra={"a": 1})
    assert doc.links[1] == Link(Span(10, 14), None) and doc.spans == (Span(10, 14),)
    assert (doc.id, doc.kb, doc.extra) == ("7", "k", {"b": 2})


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = " ".join(draw(st.lists(st.sampled_from(WORDS), max_size=20)))
    if draw(st.booleans()):
        text = draw(st.text("ab\"' .,(\n", max_size=30))
    ends = st.integers(0, len(text))
    pairs = draw(st.lists(st.tuples(ends, ends).filter(lambda pair: pair[0] < pair[1]), max_size=5)) if text else []
    spans = [Span(*pair) for pair in pairs]
    return Document(text, links=tuple(Link(span, "T") for span in spans), spans=tuple(spans))


@settings(deadline=None)
@given(documents())
def test_only_spaces_go_and_every_surface_is_the_same_but_for_spaces_inside(doc: Document) -> None:
    after = detokenize(doc)
    assert after.text.replace(" ", "") == doc.text.replace(" ", "")
    assert len(after.links) == len(doc.links) and after.spans == tuple(link.span for link in after.links)
    for old, new in zip(doc.links, after.links, strict=True):
        before, now = doc.text[old.span.start : old.span.end], after.text[new.span.start : new.span.end]
        assert now.replace(" ", "") == before.replace(" ", "")
        assert now[0] == before[0] and now[-1] == before[-1] and len(now) <= len(before)
        # the same place: equally many characters other than spaces stand before it
        assert len(after.text[: new.span.start].replace(" ", "")) == len(doc.text[: old.span.start].replace(" ", ""))
    assert after == detokenize(doc)
