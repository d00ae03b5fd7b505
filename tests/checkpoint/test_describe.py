from __future__ import annotations

from pathlib import Path

import pytest

from parlink.checkpoint.describe import describe
from parlink.checkpoint.folder import save_checkpoint
from parlink.errors import ConfigError
from tiny_model import tiny_checkpoint
from tiny_training import tiny_settings, toml

PAPER = Path(__file__).parents[2] / "configs" / "paper.toml"


def test_the_papers_model_has_the_papers_parameters() -> None:
    facts = describe(PAPER, layers=12)
    assert facts["parameters"] == {
        "encoder": 126_807_552,
        "start": 100_353,
        "end": 200_193,
        "projections": 3 * 1_775_616,
        "lstm": 7_084_032,
        "output": 39_245_913,
        "classifier": 1_185_793,
        "total": 179_950_684,
    }


def test_the_config_keeps_eight_layers() -> None:
    twelve, eight = (describe(PAPER, layers=layers)["parameters"]["encoder"] for layers in (12, None))
    assert twelve - eight == 4 * 7_087_872


def test_more_layers_than_there_are_is_an_error() -> None:
    with pytest.raises(ConfigError, match="12 layers, cannot keep 13"):
        describe(PAPER, layers=13)


@pytest.mark.parametrize("tied", [True, False])
def test_a_model_folder_is_counted_without_its_weights(tmp_path: Path, tied: bool) -> None:
    checkpoint = tiny_checkpoint(tie_output=tied)
    save_checkpoint(tmp_path / "model", checkpoint, card="")
    (tmp_path / "model" / "model.safetensors").unlink()
    counted = describe(tmp_path / "model")["parameters"]
    assert counted["total"] == sum(p.numel() for p in checkpoint.model.parameters())


def test_layers_are_counted_as_asked_for_in_a_model_folder_too(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "model", checkpoint := tiny_checkpoint(), card="")
    with pytest.raises(ConfigError, match="1 layers, cannot keep 2"):
        describe(tmp_path / "model", layers=2)
    assert describe(tmp_path / "model", layers=1)["model"]["encoder"]["layers"] == 1
    assert checkpoint.model.config.encoder.layers == 1


def test_a_run_on_an_encoder_is_described_without_its_weights(tmp_path: Path) -> None:
    (tmp_path / "train.toml").write_text(toml(tiny_settings(tmp_path)))
    before = describe(tmp_path / "train.toml")
    (tmp_path / "encoder" / "model.safetensors").write_bytes(b"")
    assert describe(tmp_path / "train.toml") == before
    assert describe(tmp_path / "train.toml", layers=1)["model"]["encoder"]["layers"] == 1
    assert before["model"]["encoder"]["layers"] == 2
