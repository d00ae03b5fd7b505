"""Mentions under other names."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents import documents
from parlink.data import jsonl
from parlink.training.data import TrainingData
from parlink.training.examples import UNKNOWN_STARTS
from parlink.training.initial import initial_checkpoint
from parlink.training.stream import Cursor, ExampleStream
from parlink.training.swap import gather_names, swap
from parlink.types import Candidate, Document, Link, Span
from tiny_training import DOCUMENTS, marked, tiny_config

NAMES = gather_names(
    [marked("[Kent] and [Essex] and [Heron Bay], [the sea|Sea], [USA] and [UN|United Nations] and [nobody|].")]
)


def surfaces(doc: Document) -> list[str]:
    return [doc.text[link.span.start : link.span.end] for link in doc.links]


def test_names_are_titles_that_are_linked_as_themselves_and_written_as_names() -> None:
    assert {words: [link.title for link in own] for words, own in NAMES.items()} == {
        1: ["Kent", "Essex"],
        2: ["Heron Bay"],
    }


@given(st.lists(documents() | st.sampled_from(DOCUMENTS), max_size=3), st.floats(0, 1), st.integers(0, 99))
def test_only_names_change_and_the_text_between_them_stays(docs: list[Document], share: float, seed: int) -> None:
    for doc in docs:
        new = swap(doc, NAMES, share=share, rng=random.Random(seed))
        assert new.id == doc.id
        assert len(new.links) == len(doc.links)
        if new.text == doc.text:
            continue
        old = sorted(doc.links, key=lambda link: link.span)
        before, after, done, moved = "", "", 0, 0
        for a, b in zip(old, new.links, strict=True):
            before += doc.text[done : a.span.start] + "|"
            after += new.text[moved : b.span.start] + "|"
            done, moved = a.span.end, b.span.end
        assert before + doc.text[done:] == after + new.text[moved:]
        for a, b, surface in zip(old, new.links, surfaces(new), strict=True):
            assert surface == b.title if a.title != b.title else True


def test_every_name_changes_with_share_1_and_takes_its_candidates_along() -> None:
    pool = gather_names([Document("Kent", links=(Link(Span(0, 4), "Kent", candidates=(Candidate("Kent (band)"),)),))])
    doc = marked("In [Wales|Wales (band)], [wales|Wales] and [WALES|Wales], [Wales|] or [South Wales], in [Essex].")
    new = swap(doc, pool, share=1.0, rng=random.Random(0))
    assert new.text == "In Kent, wales and WALES, Wales or South Wales, in Kent."
    assert surfaces(new) == ["Kent", "wales", "WALES", "Wales", "South Wales", "Kent"]
    assert [link.title for link in new.links] == ["Kent", "Wales", "Wales", None, "South Wales", "Kent"]
    assert new.links[0].candidates == (Candidate("Kent (band)"),)
    assert swap(doc, pool, share=0.0, rng=random.Random(0)).text == doc.text


@pytest.mark.parametrize(
    "doc",
    [
        Document("South Wales", links=(Link(Span(0, 11), "South Wales"), Link(Span(6, 11), "Wales"))),
        Document("Wales", links=(Link(Span(0, 5), "Wales"),), extra={UNKNOWN_STARTS: [0]}),
    ],
)
def test_a_document_with_other_places_that_would_have_to_move_stays(doc: Document) -> None:
    assert swap(doc, NAMES, share=1.0, rng=random.Random(0)) == doc


def test_names_are_swapped_anew_each_epoch_and_the_same_way_when_read_again(tmp_path: Path) -> None:
    path = tmp_path / "names.jsonl"
    jsonl.write(path, [marked(f"[Kent] met [Essex] at [Heron] {i}.") for i in range(20)])
    stage = {"train": [{"path": str(path), "swap": 0.5}], "steps": 1}
    config = tiny_config(tmp_path, stages=[stage], natural=0.0)
    tokenizer = initial_checkpoint(config).tokenizer

    def epochs() -> list[list[tuple[int, str | None]]]:
        data = TrainingData(config, tokenizer).stage(config.stages[0])
        examples = ExampleStream(str(path), data.builders[0].build, buffer_bytes=1, seed="s", cursor=Cursor())
        return [[(e.window.ids.tolist(), m.title) for e in islice(examples, 20) for m in e.mentions] for _ in range(3)]

    first, second, third = epochs()
    as_it_is = ["Kent", "Essex", "Heron"] * 20
    assert 10 < sum(a != title for a, (_, title) in zip(as_it_is, first, strict=True)) < 40
    assert first != second != third != first
    assert [first, second, third] == epochs()


def test_few_names_are_kept_of_many_whichever_way_they_come() -> None:
    docs = [marked(f"[Kent{chr(97 + i // 26)}{chr(97 + i % 26)}] [Essex]") for i in range(200)]
    names = gather_names(docs, most=20)
    backwards = gather_names(reversed(docs), most=20)
    assert {link.title for link in names[1]} == {link.title for link in backwards[1]}
    assert len(names[1]) == 20
    assert len({link.title[:5] for link in names[1] if link.title}) > 3  # not only the first
