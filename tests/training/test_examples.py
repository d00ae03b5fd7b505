"""What is made of training documents, whatever is wrong with them."""

from __future__ import annotations

import logging
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.data import jsonl
from parlink.errors import ConfigError
from parlink.kb import KnowledgeBase
from parlink.kb.build.build import build
from parlink.text.windows import char_span
from parlink.train_config import Dataset, Shapes, Stage, TrainConfig
from parlink.training.data import DocumentBuilder, TrainingData
from parlink.training.examples import DatasetStats, Example, ExampleBuilder
from parlink.training.initial import initial_checkpoint
from parlink.training.loop import Run
from parlink.types import Candidate, Document, Link, Span
from tiny import byte_level_bpe
from tiny_training import DOCUMENTS, marked, tiny_config, tiny_settings

CONFIG = TrainConfig(
    output="out",
    encoder="scratch",
    stages=(Stage(train=(Dataset(path="train"),), steps=1),),
    train_tokens=40,
    max_mention_tokens=8,
)


def cut(
    documents: Sequence[Document], *, kb: KnowledgeBase | None = None, **changes: Any
) -> tuple[list[Example], DatasetStats]:
    stats = DatasetStats()
    builder = ExampleBuilder(msgspec.structs.replace(CONFIG, **changes), byte_level_bpe(), kb)
    dataset = Dataset(path="d")
    return [example for doc in documents for example in builder.examples(doc, dataset=dataset, stats=stats)], stats


@given(st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=6), st.integers(36, 60), st.sampled_from([0, 9]))
@settings(max_examples=30, deadline=None)
def test_every_linked_mention_is_in_one_window_at_its_own_tokens(
    parts: list[Document], train_tokens: int, global_tokens: int
) -> None:
    text, links = "", []
    for part in parts:
        moved = (replace(x, span=Span(x.span.start + len(text), x.span.end + len(text))) for x in part.links)
        links += [link for link in moved if link.title is not None]
        text += part.text + " "
    doc = Document(text, links=tuple(links))
    examples, stats = cut([doc], train_tokens=train_tokens, max_mention_tokens=12, global_tokens=global_tokens)
    tokens = byte_level_bpe().encode(text)
    found = []
    for example in examples:
        assert len(example.window.ids) <= train_tokens
        for mention in example.mentions:
            shift = example.window.offset - 1
            found.append((char_span(tokens, mention.first + shift, mention.last + shift), mention.title))
    assert sorted(found) == sorted((link.span, link.title) for link in links)
    assert stats.sizes["linked mentions"] == len(links)


def test_nil_mentions_are_mentions_only_where_the_config_says_so() -> None:
    doc = marked("The bakery of [Jordan|] is here.")
    assert [e.mentions for e in cut([doc])[0]] == [()]
    [example] = cut([doc], nil=True)[0]
    [mention] = example.mentions
    assert mention.title is None
    assert len(mention.candidates) == 3
    assert cut([doc])[1].sizes["NIL mentions"] == 1


def test_starts_of_removed_links_are_known_as_such_in_their_window() -> None:
    words = "Kent and Leicester and Hamburg " * 8
    starts = [place for place in range(len(words)) if words.startswith("Leicester", place)]
    found, _ = cut([Document(words, extra={"deleted_link_starts": [*starts, 10_000, "x"]})], natural=1.0)
    assert len(found) > 1
    assert sum(len(example.unknown) for example in found) == len(starts)
    tokens = byte_level_bpe().encode(words)
    for example in found:
        for place in example.unknown:
            assert int(tokens.start[place + example.window.offset - 1]) in starts
    assert all(not example.unknown for example in cut([Document(words, extra={"deleted_link_starts": "x"})])[0])


def test_a_mention_that_cannot_be_learned_is_no_example_of_a_non_mention() -> None:
    text = "In one very very very very very very long-named place and in Hamburg."
    off_boundary, long = Link(Span(62, 65), "Ham"), Link(Span(3, 53), "Place")
    [example] = cut([Document(text, links=(off_boundary, long))])[0]
    tokens = byte_level_bpe().encode(text)
    assert example.mentions == ()
    assert sorted(int(tokens.start[place - 1]) for place in example.unknown) == [3, text.index("Hamburg")]


def bad_documents() -> list[Document]:
    text = "In Hamburg and in Jordan and in one very very very very very very long-named place."
    gold = Link(Span(3, 10), "Hamburg", candidates=(Candidate("Hamburger SV"),))
    lonely = Link(Span(18, 24), "Jordan", candidates=(Candidate("Jordan"),))
    long = Link(Span(32, 82), "Place")
    between = Link(Span(4, 6), "Hamburg", candidates=(Candidate("Hamburg"), Candidate("Ham")))
    outside = Link(Span(3, 10), "Atlantis", candidates=(Candidate("Atlantis"), Candidate("Hamburg")))
    bare = Link(Span(18, 24), "Japan")
    return [
        Document(text, id=str(i), links=(link,)) for i, link in enumerate((gold, lonely, long, between, outside, bare))
    ]


PROBLEMS = {
    "linked mentions whose title is not among the candidates": 1,
    "linked mentions with no other candidate than their title": 1,
    "mentions over max_mention_tokens = 8, skipped": 1,
    "mentions off token boundaries, skipped": 1,
    "linked mentions without candidates": 1,
}


def test_each_kind_of_bad_link_is_counted() -> None:
    examples, stats = cut(bad_documents())
    assert stats.problems == PROBLEMS
    assert stats.sizes["linked mentions"] == 6
    assert sum(len(example.mentions) for example in examples) == 4


def test_a_title_outside_the_knowledge_base_is_counted(tmp_path: Path) -> None:
    (tmp_path / "titles.txt").write_text("Hamburg\nHamburger SV\nJordan\nJapan\nPlace\n")
    build([tmp_path / "titles.txt"], tmp_path / "kb")
    _, stats = cut(bad_documents(), kb=KnowledgeBase.open(tmp_path / "kb"))
    assert stats.problems["titles that are not in the knowledge base"] == 1


def test_candidates_that_the_data_lacks_come_from_the_knowledge_base(tmp_path: Path) -> None:
    (tmp_path / "kb.jsonl").write_text('{"title": "Jordan River", "aliases": ["Jordan"]}\n{"title": "Jordan"}\n')
    build([tmp_path / "kb.jsonl"], tmp_path / "kb")
    doc = Document("By the Jordan.", links=(Link(Span(7, 13), "Jordan River"),))
    [example], stats = cut([doc], kb=KnowledgeBase.open(tmp_path / "kb"))
    assert set(example.mentions[0].candidates) == {"Jordan River", "Jordan"}
    assert not stats.problems


def test_bad_data_is_reported_once_and_does_not_stop_the_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = tiny_settings(tmp_path, validation=None, max_mention_tokens=8)
    jsonl.write(tmp_path / "bad.jsonl", bad_documents())
    jsonl.write(tmp_path / "unlinked.jsonl", [Document("Nothing is linked here."), Document("")])
    train = [{"path": str(tmp_path / name)} for name in ("bad.jsonl", "unlinked.jsonl")]
    settings["stages"] = [{"train": train, "steps": 2}, {"train": train[:1], "steps": 2}]
    config = msgspec.convert(settings, TrainConfig)
    run = Run(config, initial_checkpoint(config))
    with caplog.at_level(logging.WARNING, logger="parlink"):
        list(run.events())
    assert run.progress.total == 4
    for problem in PROBLEMS:
        assert caplog.text.count(problem) == 1
    assert caplog.text.count("unlinked.jsonl: 0 linked mentions") == 1


@pytest.mark.parametrize("documents", [(), (Document(""), Document("", id="b"))])
def test_data_without_any_text_is_refused(tmp_path: Path, documents: Sequence[Document]) -> None:
    config = tiny_config(tmp_path)
    jsonl.write(tmp_path / "train.jsonl", documents)
    with pytest.raises(ConfigError, match="holds no text"):
        TrainingData(config, byte_level_bpe()).stage(config.stages[0])


def test_the_capitals_of_an_example_are_the_words_that_begin_with_one() -> None:
    doc = Document("McKay met Ann-Marie in the USA, and iPods.")
    tokens = byte_level_bpe().encode(doc.text)
    [example], _ = cut([doc], train_tokens=60)
    starts = [tokens.start[place - 1] for place in example.capitals]  # a window begins with <s>
    assert [doc.text[start : start + 3] for start in starts] == ["McK", "Ann", "Mar", "USA"]


@pytest.mark.parametrize(("shape", "text"), [("upper", "KENT AND THE SEA"), ("lower", "kent and the sea")])
def test_what_may_be_a_name_is_told_by_the_text_before_its_case_is_changed(shape: str, text: str) -> None:
    dataset = Dataset(path="train", shapes=Shapes(**{shape: 1.0}))
    builder = DocumentBuilder(ExampleBuilder(CONFIG, byte_level_bpe(), None), dataset, {})
    [example] = builder.build(b'{"text": "Kent and the Sea"}', 1, random.Random(0))
    tokens = byte_level_bpe().encode(text)
    assert [text[tokens.start[place - 1] :][:3] for place in example.capitals] == [text[:3], text[-3:]]


def test_only_unlinked_data_trains_detection_and_nothing_else(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, validation=None)
    jsonl.write(tmp_path / "train.jsonl", [Document("Nothing is linked here."), Document("Nor here.")])
    run = Run(config, initial_checkpoint(config))
    *_, last = [event for event in run.events() if hasattr(event, "losses")]
    assert last.losses["start"] < 0.7
    assert [last.losses[name] for name in ("end", "generation", "classifier")] == [0, 0, 0]
