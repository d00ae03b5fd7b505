"""A model folder comes back as it was written, or says what is wrong with it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from parlink.checkpoint.config_file import read_config, update_tuned
from parlink.checkpoint.folder import Checkpoint, load_checkpoint, save_checkpoint
from parlink.checkpoint.recovery import recover, replacing
from parlink.config import ScoreWeights, Tuned
from parlink.decision_config import Confidence
from parlink.errors import CheckpointError, ConfigError
from tiny_model import tiny_checkpoint

TUNED = Tuned(
    mention_threshold=-1.2,
    score_threshold=0.5,
    weights=ScoreWeights(prior=0.3),
    confidence=Confidence(bias=1, mention_logit=2, total=3, margin=4, log_prior=5),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    checkpoint = tiny_checkpoint()
    save_checkpoint(tmp_path / "model", Checkpoint(checkpoint.model, checkpoint.tokenizer, TUNED), card="A card.")
    return tmp_path / "model"


@pytest.mark.parametrize("tied", [False, True])
def test_a_model_comes_back_as_it_was(tmp_path: Path, tied: bool) -> None:
    saved = tiny_checkpoint(tie_output=tied, nil=True, self_normalized=True)
    save_checkpoint(tmp_path / "model", Checkpoint(saved.model, saved.tokenizer, TUNED), card="A card.")
    loaded = load_checkpoint(tmp_path / "model")
    assert loaded.model.config == saved.model.config
    assert loaded.tuned == TUNED
    assert loaded.tokenizer.hash == saved.tokenizer.hash
    assert not loaded.model.training
    theirs = loaded.model.state_dict()
    assert all(torch.equal(tensor, theirs[name]) for name, tensor in saved.model.state_dict().items())
    assert (loaded.model.decoder.head.decoder.weight is loaded.model.encoder.token_embeddings.weight) == tied
    files = sorted(path.name for path in (tmp_path / "model").iterdir())
    assert files == ["README.md", "config.json", "model.safetensors", "tokenizer.json"]


def test_a_tied_matrix_is_stored_once(tmp_path: Path) -> None:
    for tied in (False, True):
        save_checkpoint(tmp_path / str(tied), tiny_checkpoint(tie_output=tied), card="")
    names = {tied: load_file(tmp_path / str(tied) / "model.safetensors").keys() for tied in (False, True)}
    assert names[False] - names[True] == {"decoder.head.decoder.weight"}


def test_tuned_values_are_replaced_and_nothing_else(folder: Path) -> None:
    before = (folder / "model.safetensors").read_bytes()
    model = read_config(folder).model
    update_tuned(folder, Tuned(mention_threshold=2.5))
    assert read_config(folder).tuned == Tuned(mention_threshold=2.5)
    assert read_config(folder).model == model
    assert (folder / "model.safetensors").read_bytes() == before


def test_a_folder_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no such model folder"):
        load_checkpoint(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(CheckpointError, match=name):
        load_checkpoint(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("left", [0.0, 0.02, 0.5, 0.99])
def test_a_truncated_file_is_named(folder: Path, name: str, left: float) -> None:
    raw = (folder / name).read_bytes()
    (folder / name).write_bytes(raw[: int(left * len(raw))])
    with pytest.raises(CheckpointError, match=name):
        load_checkpoint(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("missing", r"model.safetensors: has no 'detector.start.2.weight'"),
        ("shape", r"'detector.start.2.weight' has shape \(3, 8\), but config.json asks for \(8, 8\)"),
        ("unknown", r"holds 'detector.middle', which the model of config.json does not have"),
    ],
)
def test_a_tensor_that_does_not_fit_is_named(folder: Path, change: str, message: str) -> None:
    weights = load_file(folder / "model.safetensors")
    if change == "unknown":
        weights["detector.middle"] = torch.zeros(1)
    elif change == "missing":
        del weights["detector.start.2.weight"]
    else:
        weights["detector.start.2.weight"] = torch.zeros(3, 8)
    save_file(weights, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"files": {}}))  # as whoever makes a folder by hand has it
    with pytest.raises(CheckpointError, match=message):
        load_checkpoint(folder)


def test_a_misspelled_key_of_the_config_is_named(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["model"]["windoe"] = 3
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ConfigError, match="windoe"):
        load_checkpoint(folder)


def test_a_newer_format_asks_for_a_newer_parlink(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"format": 99}))
    with pytest.raises(CheckpointError, match="format 99 is newer than 2; upgrade parlink"):
        load_checkpoint(folder)


def test_a_folder_that_is_no_model_says_so(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(CheckpointError, match="not a parlink model"):
        load_checkpoint(tmp_path)


def test_what_fails_while_writing_leaves_the_old_folder(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(CheckpointError, match="cannot be written"), replacing(folder) as temporary:
        (temporary / "half").write_text("x")
        raise OSError(28, "No space left on device")
    with pytest.raises(ZeroDivisionError), replacing(folder) as temporary:
        raise ZeroDivisionError
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("moved", [False, True])
def test_a_kill_while_a_folder_is_replaced_is_made_good(folder: Path, moved: bool) -> None:
    """Killed between the two renames, or before the old folder was removed."""
    new, old = folder.with_name(".model.partial"), folder.with_name(".model.old")
    shutil.copytree(folder, new)
    (new / "README.md").write_text("The new one.")
    folder.rename(old)
    if moved:
        new.rename(folder)
    recover(folder)
    assert (folder / "README.md").read_text() == "The new one."
    load_checkpoint(folder)
    assert [path.name for path in folder.parent.iterdir()] == ["model"]
