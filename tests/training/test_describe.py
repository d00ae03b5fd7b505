"""What is said of entities in training."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import pytest
import torch

from parlink.errors import ConfigError, DataFormatError
from parlink.kb import KnowledgeBase
from parlink.kb.build.build import build
from parlink.nn.similarity import TOKENS
from parlink.training.describe import Describer, read_leads
from parlink.training.initial import initial_checkpoint
from parlink.training.loop import Run
from tiny import byte_level_bpe
from tiny_training import tiny_config


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    (tmp_path / "kb.jsonl").write_text(
        '{"title": "Japan", "description": "island country"}\n{"title": "Jordan", "description": "country"}\n'
        '{"title": "Elbe"}\n'
    )
    build([tmp_path / "kb.jsonl"], tmp_path / "kb")
    return KnowledgeBase.open(tmp_path / "kb")


def test_descriptions_come_from_the_kb_and_from_leads(kb: KnowledgeBase) -> None:
    tokenizer = byte_level_bpe()
    describer = Describer(tokenizer, 0.0, kb, {"Japan": "a band of " * 40, "Elbe": "a river"})
    rng = random.Random(0)
    drawn = {describer.describe(["Japan"], rng)[0] for _ in range(30)}
    assert drawn == {tokenizer.title("island country"), tokenizer.title("a band of " * 20)[:TOKENS]}
    names = ["Jordan", "Elbe", "Nowhere", None]
    assert describer.describe(names, rng) == [tokenizer.title("country"), tokenizer.title("a river"), (), ()]


def test_descriptions_are_left_out_of_whole_mentions_and_of_single_names(kb: KnowledgeBase) -> None:
    describer, rng = Describer(byte_level_bpe(), 0.3, kb), random.Random(0)
    drawn = [sum(map(bool, describer.describe(["Japan", "Jordan"], rng))) for _ in range(2000)]
    shares = [drawn.count(count) / len(drawn) for count in (0, 1, 2)]
    assert shares == pytest.approx([0.3 + 0.7 * 0.09, 0.7 * 0.42, 0.7 * 0.49], abs=0.04)


def test_leads_may_be_compressed_and_a_broken_line_is_named(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "leads.jsonl.gz", "wt") as file:
        file.write('{"title": "Japan", "text": "x", "more": 1}\n')
    assert read_leads(tmp_path / "leads.jsonl.gz") == {"Japan": "x"}
    (tmp_path / "bad.jsonl").write_text('{"title": "Japan", "text": "x"}\n{"title": "Japan"}\n')
    with pytest.raises(DataFormatError, match=r"bad\.jsonl, line 2|bad\.jsonl:2"):
        read_leads(tmp_path / "bad.jsonl")


def test_nil_has_no_words(kb: KnowledgeBase) -> None:
    tokenizer = byte_level_bpe()
    titles, said = Describer(tokenizer, 0.0, kb).entities([["Japan", None], ["Elbe"]], random.Random(0))
    assert titles.lengths.tolist() == [len(tokenizer.title("Japan")), 0, len(tokenizer.title("Elbe"))]
    assert said.lengths.tolist() == [len(tokenizer.title("island country")), 0, 0]


def test_a_title_is_left_out_only_where_something_is_said(kb: KnowledgeBase) -> None:
    describer, rng = Describer(byte_level_bpe(), 0.0, kb, title_dropout=0.3), random.Random(0)
    drawn = [describer.entities([["Japan", "Elbe"]], rng)[0].lengths.tolist() for _ in range(1000)]
    assert sum(not japan for japan, _ in drawn) / len(drawn) == pytest.approx(0.3, abs=0.04)
    assert all(elbe for _, elbe in drawn)


def test_a_model_that_reads_descriptions_needs_some(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="needs a kb or a description_file"):
        tiny_config(tmp_path, similarity=4)


def test_a_run_learns_from_descriptions_and_goes_on_to_the_same_weights(tmp_path: Path, kb: KnowledgeBase) -> None:
    stage: dict[str, Any] = {"train": [{"path": str(tmp_path / "train.jsonl")}], "steps": 5, "warmup_steps": 0}
    settings: dict[str, Any] = {
        "similarity": 4,
        "global_tokens": 3,
        "kb": str(tmp_path / "kb"),
        "stages": [stage],
    }
    config = tiny_config(tmp_path, **settings, output=str(tmp_path / "whole"))
    whole = Run(config, initial_checkpoint(config))
    list(whole.events())
    assert whole.model.similarity is not None and whole.model.similarity.word_weight.any()
    config = tiny_config(tmp_path, **settings)
    events = Run(config, initial_checkpoint(config)).events()
    for _ in range(2):
        next(events)
    events.close()
    resumed = Run(config, initial_checkpoint(config), resume=True)
    list(resumed.events())
    for name, weight in whole.model.state_dict().items():
        assert torch.equal(resumed.model.state_dict()[name], weight), name
