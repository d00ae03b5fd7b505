"""The recipe of a bi-encoder, on a tiny model and knowledge base."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch

from parlink.checkpoint.folder import Checkpoint, load_checkpoint, save_checkpoint
from parlink.config import LinkOptions, ScoreWeights
from parlink.data import jsonl
from parlink.kb import KnowledgeBase
from parlink.kb.build.build import build
from parlink.linking.linker import Linker
from parlink.types import Document, Link, Span
from recipes.similarity import __main__ as recipe
from recipes.similarity.examples import Reader, read_examples
from recipes.similarity.links import linked_windows
from recipes.similarity.train import rarity
from tiny_model import tiny_checkpoint

ENTITIES = """\
{"title": "Mercury (planet)", "aliases": ["Mercury"], "description": "planet near the sun"}
{"title": "Mercury (element)", "aliases": ["Mercury"], "description": "liquid metal"}
{"title": "Venus"}
"""
SKY, LAB = "the orbit of Mercury near the sun", "a drop of Mercury is liquid metal"


def linked(text: str, title: str) -> Document:
    start = text.index("Mercury")
    return Document(text, links=(Link(Span(start, start + 7), title),))


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    (tmp_path / "kb.jsonl").write_text(ENTITIES)
    build([tmp_path / "kb.jsonl"], tmp_path / "kb")
    return KnowledgeBase.open(tmp_path / "kb")


def test_links_without_a_rival_or_without_their_entity_are_left_out(kb: KnowledgeBase) -> None:
    docs = [
        linked(SKY, "Mercury (planet)"),
        linked(SKY, "Freddie Mercury"),
        Document("Venus", links=(Link(Span(0, 5), "Venus"),)),
        Document("Mercury"),
    ]
    (window,) = linked_windows(docs, tiny_checkpoint().tokenizer, kb.snapshot())
    (link,) = window.links
    assert link.candidates[link.right].title == "Mercury (planet)"
    assert tiny_checkpoint().tokenizer.encode(SKY).ids.tolist() == window.ids.tolist()


def test_a_batch_says_which_candidate_is_right_and_what_stands_beside_it(kb: KnowledgeBase) -> None:
    checkpoint = tiny_checkpoint()
    docs = [linked(SKY, "Mercury (planet)"), linked(LAB, "Mercury (element)")]
    windows = list(linked_windows(docs, checkpoint.tokenizer, kb.snapshot()))
    reader = Reader(checkpoint.tokenizer, kb.snapshot(), {}, no_title=0, no_description=0)
    with torch.no_grad():
        batch = reader.read([read_examples(checkpoint.model, w)[0] for w in windows], random.Random(0))
    assert batch.owner.tolist() == [0, 0, 1, 1]
    titles = [each.title for window in windows for each in window.links[0].candidates]
    assert [titles[place] for place in batch.right.tolist()] == ["Mercury (planet)", "Mercury (element)"]
    assert [len(part) for part in batch.states] == [2, 2, 2]


def test_a_word_that_is_seen_less_is_rarer(kb: KnowledgeBase) -> None:
    checkpoint = tiny_checkpoint()
    (window,) = linked_windows([linked(SKY, "Mercury (planet)")], checkpoint.tokenizer, kb.snapshot())
    with torch.no_grad():
        examples = read_examples(checkpoint.model, window) * 2
    values = rarity(examples, 10_000)
    counts = torch.bincount(torch.from_numpy(window.ids), minlength=10_000)
    assert values[counts > 0].max() < values[counts == 0].min()


def test_a_bi_encoder_learns_to_tell_entities_by_their_descriptions(
    tmp_path: Path, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_checkpoint(tmp_path / "model", tiny_checkpoint(), card="")
    jsonl.write(tmp_path / "docs.jsonl", [linked(SKY, "Mercury (planet)"), linked(LAB, "Mercury (element)")])
    arguments = [tmp_path / "docs.jsonl", "-o", tmp_path / "out", "--model", tmp_path / "model", "--kb", kb.folder]
    more = ["--size", 8, "--encode", 2, "--steps", 60]
    monkeypatch.setattr("sys.argv", ["recipe", *map(str, arguments + more)])
    assert recipe.main() == 0
    trained, before = load_checkpoint(tmp_path / "out"), load_checkpoint(tmp_path / "model").model.state_dict()
    for name, weight in trained.model.state_dict().items():
        assert name.startswith("similarity.") or torch.equal(weight, before[name]), name
    linker = Linker(trained, kb=kb, source=kb)
    options = LinkOptions(weights=ScoreWeights(lm=0, classifier=0, similarity=1))
    for text, title in ((SKY, "Mercury (planet)"), (LAB, "Mercury (element)")):
        start = text.index("Mercury")
        link = linker.link(Document(text, spans=(Span(start, start + 7),)), options=options).links[0]
        assert link.title == title


def test_a_bi_encoder_may_be_trained_further(
    tmp_path: Path, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = tiny_checkpoint()
    save_checkpoint(tmp_path / "bare", bare, card="")
    given = recipe.with_bi_encoder(bare.model, 8)
    assert given.similarity is not None
    given.similarity.center.fill_(0.5)
    given.similarity.rarity.fill_(2.0)
    save_checkpoint(tmp_path / "model", Checkpoint(given, bare.tokenizer, bare.tuned), card="")
    jsonl.write(tmp_path / "docs.jsonl", [linked(SKY, "Mercury (planet)")])

    def run(model: str) -> int:
        paths = [tmp_path / "docs.jsonl", "-o", tmp_path / "out", "--model", tmp_path / model, "--kb", kb.folder]
        monkeypatch.setattr("sys.argv", ["recipe", *map(str, [*paths, "--steps", 2, "--learning-rate", 0, "--keep"])])
        return recipe.main()

    assert run("model") == 0
    after = load_checkpoint(tmp_path / "out").model.state_dict()
    assert all(torch.equal(weight, after[name]) for name, weight in given.state_dict().items())
    assert run("bare") == 1
    assert "no bi-encoder to keep" in capsys.readouterr().err
