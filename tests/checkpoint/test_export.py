"""An exported model is small, whole, and links as the model it was made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from parlink.checkpoint.export import export
from parlink.checkpoint.folder import load_checkpoint, save_checkpoint, save_weights
from parlink.checkpoint.quantize import Bits
from parlink.errors import CheckpointError, KnowledgeBaseError
from parlink.kb import KnowledgeBase
from parlink.kb.build.build import build
from parlink.linking.linker import Linker
from parlink.training.initial import initial_checkpoint
from parlink.types import Entity
from tiny_training import CANDIDATES, DOCUMENTS, tiny_config


@pytest.fixture
def model(tmp_path: Path) -> Path:
    save_checkpoint(tmp_path / "model", initial_checkpoint(tiny_config(tmp_path)), card="# A card\n")
    return tmp_path / "model"


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    (tmp_path / "titles.txt").write_text("\n".join(title for some in CANDIDATES.values() for title in some))
    build([tmp_path / "titles.txt"], tmp_path / "kb")
    return tmp_path / "kb"


def size(folder: Path) -> int:
    return (folder / "model.safetensors").stat().st_size


@pytest.mark.parametrize(("bits", "share"), [(6, 0.35), (8, 0.35), (16, 0.55), (32, 1.0)])
def test_it_is_smaller_and_scores_nearly_the_same(
    tmp_path: Path, model: Path, kb: Path, bits: Bits, share: float
) -> None:
    small = export(model, tmp_path / "small", bits=bits, word_bits=bits, kb=kb)
    assert size(small) <= share * size(model)
    for doc in DOCUMENTS[:3]:
        before, after = (Linker.load(folder, kb=kb).link(doc) for folder in (model, small))
        for ours, theirs in zip(before.links, after.links, strict=True):
            scores = {c.title: c.score for c in theirs.candidates}
            assert {c.title: c.score for c in ours.candidates} == pytest.approx(scores, abs=0.1)


def test_the_knowledge_base_inside_is_found_without_being_named(tmp_path: Path, model: Path, kb: Path) -> None:
    opened = Linker.load(kb=kb, path=model)
    opened.kb.tree(opened.tokenizer)  # leaves a tree beside the tables
    small = Linker.load(export(model, tmp_path / "small", kb=kb))
    assert small.kb.name == opened.kb.name
    assert not (tmp_path / "small" / "kb" / "trees").exists()
    again = export(tmp_path / "small", tmp_path / "again")
    assert Linker.load(again).kb.name == opened.kb.name
    assert (again / "README.md").read_text() == "# A card\n"


def test_changes_to_the_knowledge_base_travel_along(tmp_path: Path, model: Path, kb: Path) -> None:
    KnowledgeBase.open(kb).add(Entity("Hamburg (ship)"), aliases=["the old ship"])
    small = Linker.load(export(model, tmp_path / "small", kb=kb))
    assert [one.title for one in small.kb.candidates("the old ship", limit=3)] == ["Hamburg (ship)"]


def test_what_is_there_is_not_overwritten(tmp_path: Path, model: Path) -> None:
    with pytest.raises(CheckpointError, match="there already"):
        export(model, model)


def test_a_folder_that_is_no_knowledge_base_leaves_nothing_behind(tmp_path: Path, model: Path) -> None:
    with pytest.raises(KnowledgeBaseError):
        export(model, tmp_path / "small", kb=tmp_path)
    assert not (tmp_path / "small").exists()


def test_who_may_read_the_folder_may_read_the_weights(tmp_path: Path, model: Path) -> None:
    model.chmod(0o755)
    save_weights(model / "model.safetensors", load_checkpoint(model).model)
    assert (model / "model.safetensors").stat().st_mode & 0o777 == 0o644
