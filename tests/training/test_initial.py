"""Where a run starts from a trained model, it starts as good as that model is."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from parlink.checkpoint.config_file import trained_folder
from parlink.checkpoint.describe import describe
from parlink.checkpoint.export import export
from parlink.checkpoint.folder import load_checkpoint, save_checkpoint
from parlink.errors import CheckpointError, ConfigError
from parlink.training.initial import initial_checkpoint
from parlink.training.loop import Run
from tiny_model import tiny_checkpoint
from tiny_training import tiny_config, tiny_settings, toml


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    first = initial_checkpoint(tiny_config(tmp_path, seed=5))
    save_checkpoint(tmp_path / "trained", first, card="")
    return tmp_path / "trained"


def test_a_run_starts_with_every_weight_of_a_trained_model(tmp_path: Path, trained: Path) -> None:
    config = tiny_config(tmp_path, encoder=str(trained), nil=True, max_tokens=100)
    started, source = initial_checkpoint(config), load_checkpoint(trained)
    assert started.model.config.nil and started.model.config.max_tokens == 100
    assert started.tokenizer.hash == source.tokenizer.hash
    for name, weight in source.model.state_dict().items():
        assert torch.equal(started.model.state_dict()[name], weight), name


def test_a_run_keeps_the_sentence_vectors_of_a_trained_model(tmp_path: Path) -> None:
    source = tiny_checkpoint(seed=5, similarity=4, sentence=3)
    save_checkpoint(tmp_path / "trained", source, card="")
    sizes = {"detector_hidden": 8, "max_tokens": 64, "overlap": 30, "window": 8}
    started = initial_checkpoint(tiny_config(tmp_path, encoder=str(tmp_path / "trained"), **sizes))
    assert started.model.config.sentence == 3
    for name in ("project.weight", "project.bias", "strength"):
        kept, weight = (each.model.state_dict()[f"sentence.{name}"] for each in (started, source))
        assert torch.equal(kept, weight), name


def test_a_run_tells_an_encoder_how_words_are_capitalized_if_it_was_trained_so(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "told", initial_checkpoint(tiny_config(tmp_path, letter_case=True)), card="")
    config = tiny_config(tmp_path, encoder=str(tmp_path / "told"))
    run = Run(config, initial_checkpoint(config))
    list(run.events())
    cases = load_checkpoint(run.folder / "model").model.encoder.cases
    assert cases is not None and cases.weight[1:].any()  # they were zeros, and 0 is that of small letters


def test_a_trained_model_in_8_bits_can_be_gone_on_from(tmp_path: Path, trained: Path) -> None:
    source = load_checkpoint(trained)
    export(trained, tmp_path / "small", bits=8)
    started = initial_checkpoint(tiny_config(tmp_path, encoder=str(tmp_path / "small")))
    for name, weight in source.model.state_dict().items():
        torch.testing.assert_close(started.model.state_dict()[name], weight, atol=0.01, rtol=0.01)


def test_sizes_of_a_trained_model_cannot_change(tmp_path: Path, trained: Path) -> None:
    with pytest.raises(ConfigError, match=r"layers = 1, but .* is trained with 2"):
        initial_checkpoint(tiny_config(tmp_path, encoder=str(trained), layers=1))
    with pytest.raises(ConfigError, match=r"tie_output = true, but .* is trained with false; set `tie_output = false`"):
        initial_checkpoint(tiny_config(tmp_path, encoder=str(trained), tie_output=True))
    with pytest.raises(CheckpointError, match="has shape"):
        initial_checkpoint(tiny_config(tmp_path, encoder=str(trained), detector_hidden=8))


def test_an_encoder_is_no_trained_model(tmp_path: Path, trained: Path) -> None:
    assert trained_folder(trained) == trained
    assert trained_folder(str(tmp_path / "encoder")) is None
    assert trained_folder("allenai/longformer-base-4096") is None


def test_info_describes_a_run_that_starts_from_a_trained_model(tmp_path: Path, trained: Path) -> None:
    (tmp_path / "more.toml").write_text(toml(tiny_settings(tmp_path, encoder=str(trained))))
    assert describe(tmp_path / "more.toml")["parameters"] == describe(trained)["parameters"]


def test_a_trained_model_gets_a_bi_encoder_and_keeps_all_else(tmp_path: Path, trained: Path) -> None:
    (tmp_path / "leads.jsonl").write_text('{"title": "Japan", "text": "a country"}\n')
    more = {"similarity": 4, "description_file": str(tmp_path / "leads.jsonl")}
    started = initial_checkpoint(tiny_config(tmp_path, encoder=str(trained), **more)).model
    old = load_checkpoint(trained).model.state_dict()
    for name, weight in started.state_dict().items():
        if name in old:
            assert torch.equal(weight, old[name]), name
        else:
            assert name.startswith("similarity."), name
    assert started.similarity is not None


def test_a_run_without_descriptions_keeps_the_bi_encoder_that_a_model_has(tmp_path: Path) -> None:
    (tmp_path / "leads.jsonl").write_text('{"title": "Japan", "text": "a country"}\n')
    leads = {"description_file": str(tmp_path / "leads.jsonl")}
    save_checkpoint(tmp_path / "has", initial_checkpoint(tiny_config(tmp_path, similarity=4, **leads)), card="")
    with pytest.raises(ConfigError, match=r"similarity = 5, but .* set `similarity = 4`"):
        initial_checkpoint(tiny_config(tmp_path, encoder=str(tmp_path / "has"), similarity=5, **leads))
    old = load_checkpoint(tmp_path / "has").model.state_dict()
    again = initial_checkpoint(tiny_config(tmp_path, encoder=str(tmp_path / "has"))).model.state_dict()
    assert all(torch.equal(again[name], weight) for name, weight in old.items())
