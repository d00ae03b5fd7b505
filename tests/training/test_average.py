"""The average of the weights over the last steps."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from parlink.checkpoint.folder import load_checkpoint
from parlink.training.average import WeightAverage
from parlink.training.initial import initial_checkpoint
from parlink.training.loop import Run
from tiny_training import tiny_config


def test_the_average_of_many_steps_weighs_each_less_the_longer_it_is_ago() -> None:
    layer = nn.Linear(1, 1, bias=False, dtype=torch.float64)
    average = WeightAverage(layer, decay=0.8)
    wanted = float(layer.weight.detach())
    for step in range(1, 200):
        with torch.no_grad():
            layer.weight.fill_(step)
        average.update(step)
        decay = min(0.8, step / (step + 9))
        wanted = decay * wanted + (1 - decay) * step
    assert float(average.weights["weight"]) == pytest.approx(wanted)
    assert wanted == pytest.approx(199 - 4, abs=1e-3)  # the mean age is 0.8 / (1 - 0.8)


def test_within_the_block_the_model_is_its_average_and_then_itself_again() -> None:
    layer = nn.Linear(2, 2)
    average = WeightAverage(layer, decay=0.5)
    before = layer.weight.detach().clone()
    with torch.no_grad():
        layer.weight.add_(1.0)
    with pytest.raises(KeyboardInterrupt), average.in_place():
        assert torch.equal(layer.weight, before)
        raise KeyboardInterrupt
    assert torch.equal(layer.weight, before + 1)
    assert torch.equal(average.weights["weight"], before)


def test_what_is_kept_is_the_average(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, validation=None, ema_decay=0.9, tie_output=True, freeze_embeddings=True)
    run = Run(config, initial_checkpoint(config))
    list(run.events())
    kept = dict(load_checkpoint(run.folder / "model").model.named_parameters())
    assert "encoder.token_embeddings.weight" not in run.average.weights
    for name, weight in run.average.weights.items():
        assert torch.equal(kept[name], weight), name
    assert not torch.equal(kept["decoder.lstm.weight_hh"], run.model.decoder.lstm.weight_hh)


def test_without_a_decay_nothing_is_averaged(tmp_path: Path) -> None:
    run = Run(config := tiny_config(tmp_path, validation=None), initial_checkpoint(config))
    assert not run.average.weights
