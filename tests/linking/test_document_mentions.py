"""Names that stand in a document again are proposed as mentions."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlink.config import LinkOptions
from parlink.linking.document_mentions import find_again, propose_again
from parlink.linking.linker import Linker
from parlink.linking.mentions import Mention, tokenize
from parlink.types import Document, Span
from tiny_kb import tiny_kb
from tiny_model import tiny_checkpoint

WORDS = st.sampled_from(["Kent", "County", "of", "kent", "KC", "Kents", ". ", "  "])


def span_of(text: str, name: str) -> Span:
    return Span(text.index(name), text.index(name) + len(name))


def found(text: str, *likely: str) -> list[str]:
    again = find_again(text, [span_of(text, name) for name in likely])
    return [f"{text[span.start : span.end]} at {span.start}" for span in again if span.start > len(likely[0])]


def test_a_name_its_parts_and_its_initials_are_found_again() -> None:
    text = "Emma Oberländer: Oberländer and Emma, by EO and for Emma Oberländer."
    assert found(text, "Emma Oberländer") == ["Oberländer at 17", "Emma at 32", "EO at 41", "Emma Oberländer at 52"]
    assert found("Food and Agriculture Organization, FAO or FAAO", "Food and Agriculture Organization") == [
        "FAO at 35",
        "FAAO at 42",
    ]


def test_what_is_no_name_is_not_found() -> None:
    assert found("University of Kent of kent, Kentish university 2", "University of Kent") == []
    assert found("Euro 2000: 2000 tons", "Euro 2000") == []
    assert found("The Post, by The Editor", "The Post") == []
    assert find_again("Kent and Kent", []) == []


def test_nothing_is_found_within_a_likely_mention() -> None:
    text = "Kent County Council, Kent Council"
    again = find_again(text, [span_of(text, name) for name in ("Kent County Council", "Kent Council")])
    assert [(span.start, span.end) for span in again] == [(0, 19), (21, 33)]


@given(st.lists(WORDS, min_size=1, max_size=12), st.lists(st.integers(0, 40), min_size=2, max_size=6))
def test_what_is_found_has_the_words_of_a_likely_mention(words: list[str], places: list[int]) -> None:
    text = " ".join(words)
    bounds = sorted({min(place, len(text)) for place in places})
    likely = [Span(a, b) for a, b in pairwise(bounds)]
    names = [text[span.start : span.end] for span in likely]
    again = find_again(text, likely)
    assert again == sorted(set(again)) and all(a.end <= b.start for a, b in pairwise(again))
    for span in again:
        form = text[span.start : span.end]
        assert any(form in name for name in names) or form.isupper()
        assert not any(s.start <= span.start and span.end <= s.end and s != span for s in likely)


def test_only_likely_mentions_are_repeated_and_given_spans_stay_alone() -> None:
    checkpoint = tiny_checkpoint()
    docs = [Document("Kent, Kent"), Document("Kent, Kent"), Document("Kent, Kent", spans=(Span(0, 4),))]
    texts = [tokenize(doc, tokenizer=checkpoint.tokenizer, config=checkpoint.model.config) for doc in docs]
    mentions = [
        Mention(0, Span(0, 4), "detector", 1.0, 0.7),
        Mention(1, Span(0, 4), "detector", -1.0, 0.2),
        Mention(2, Span(0, 4), "given"),
    ]
    again = propose_again(texts, mentions)
    proposed = [[p for window in text.proposals for p in window] for text in again]
    assert [[(p.span, p.source) for p in each] for each in proposed] == [
        [(Span(0, 4), "document"), (Span(6, 10), "document")],
        [],
        [],
    ]


def test_a_repeated_name_is_judged_by_the_detector_and_says_who_proposed_it(tmp_path: Path) -> None:
    kb = tiny_kb(tmp_path)
    linker = Linker(tiny_checkpoint(seed=4, spread=4.0), kb=kb, source=kb)
    text = "Kent met Kent. Kent saw Kent, and HSV beat Kent by far. Kent"
    options = LinkOptions(mention_threshold=0.0, overlaps="keep")
    before = linker.link(text, options=options)
    after = linker.link(text, options=msgspec.structs.replace(options, document_mentions=True))
    new = [link for link in after.links if link.source == "document"]
    detected = [link for link in after.links if link.source == "detector"]
    assert [(link.span, link.title) for link in detected] == [(link.span, link.title) for link in before.links]
    assert {text[link.span.start : link.span.end] for link in new} == {"Kent"} and len(new) == 2
    assert all(link.candidates for link in new)
    starts = linker.link(text, options=msgspec.structs.replace(options, mention_threshold=-100.0)).links
    logits = {link.span.start: link.mention_logit for link in starts}
    assert [link.mention_logit for link in new] == pytest.approx([logits[link.span.start] for link in new], rel=1e-4)


def test_the_same_links_alone_and_among_others(tmp_path: Path) -> None:
    kb = tiny_kb(tmp_path)
    linker = Linker(tiny_checkpoint(seed=4, spread=4.0), kb=kb, source=kb)
    options = LinkOptions(mention_threshold=0.0, overlaps="keep", document_mentions=True)
    texts = ["Kent met Kent. Kent saw Kent, and HSV beat Kent by far. Kent", "Hamburg and Kent", "HSV " * 40]
    together = linker.link(texts, options=options)
    for text, doc in zip(texts, together, strict=True):
        alone = linker.link(text, options=options)
        assert [(link.span, link.source, link.title) for link in alone.links] == [
            (link.span, link.source, link.title) for link in doc.links
        ]
