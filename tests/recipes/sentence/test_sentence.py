"""The recipe of sentence vectors, on a tiny model, a tiny teacher and a tiny knowledge base."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from parlink.checkpoint.folder import load_checkpoint, save_checkpoint
from parlink.data import jsonl
from parlink.kb.build.build import build
from parlink.types import Document
from recipes.sentence import __main__ as recipe
from recipes.sentence.distill import Teacher
from tiny_model import tiny_checkpoint
from tiny_training import write_encoder

LEADS = [{"title": f"Title {n}", "text": f"a thing of kind {n % 5} in the year {1900 + n}"} for n in range(40)]


def run(place: Path, monkeypatch: pytest.MonkeyPatch, *, similarity: int = 6) -> int:
    (place / "leads.jsonl").write_text("\n".join(map(json.dumps, LEADS)))
    (place / "kb.jsonl").write_text('{"title": "Title 1", "description": "a thing"}\n')
    build([place / "kb.jsonl"], place / "kb")
    jsonl.write(place / "docs.jsonl", [Document(""), Document("Rain fell on Kent. " * 40), Document("Rain")])
    save_checkpoint(place / "model", tiny_checkpoint(seed=3, spread=2.0, similarity=similarity), card="# Card\n")
    arguments = [place / "docs.jsonl", "--leads", place / "leads.jsonl", "--teacher", write_encoder(place / "teacher")]
    more = ["-o", place / "out", "--model", place / "model", "--kb", place / "kb", "--strength", 3]
    monkeypatch.setattr("sys.argv", ["recipe", *map(str, arguments + more)])
    return recipe.main()


def test_vectors_come_near_those_of_the_teacher_and_nothing_else_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, monkeypatch) == 0
    assert float(capsys.readouterr().out.split()[-1]) > 0.5
    made, before = load_checkpoint(tmp_path / "out").model, load_checkpoint(tmp_path / "model").model.state_dict()
    for name, weight in made.state_dict().items():
        assert name.startswith("sentence.") or torch.equal(weight, before[name]), name
    assert made.sentence is not None and made.sentence.strength == 3
    assert made.config.sentence == Teacher(str(tmp_path / "teacher")).encoder.config.hidden


def test_a_model_without_a_bi_encoder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, monkeypatch, similarity=0) == 1
    assert "wants a bi-encoder" in capsys.readouterr().err
