"""Which weights change, how fast, and which are pulled to zero."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from parlink.nn.model import LinkingModel
from parlink.train_config import Stage
from parlink.training.initial import initial_checkpoint
from parlink.training.loop import Run
from parlink.training.optimizer import make_optimizer, set_rates
from tiny_model import tiny_model
from tiny_training import tiny_config


def test_layer_norms_and_biases_are_not_decayed(tmp_path: Path) -> None:
    model = tiny_model()
    optimizer = make_optimizer(model, tiny_config(tmp_path, weight_decay=0.5))
    decay = {id(p): group["weight_decay"] for group in optimizer.param_groups for p in group["params"]}
    norms = {id(p) for module in model.modules() if isinstance(module, nn.LayerNorm) for p in module.parameters()}
    assert len(decay) == len(list(model.parameters()))
    for name, parameter in model.named_parameters():
        plain = id(parameter) in norms or "bias" in name
        assert decay[id(parameter)] == (0.0 if plain else 0.5), name
    assert len(norms) == 2 * sum(isinstance(module, nn.LayerNorm) for module in model.modules()) > 20


def test_decay_without_a_gradient_shrinks_matrices_and_nothing_else(tmp_path: Path) -> None:
    model = tiny_model()
    optimizer = make_optimizer(model, tiny_config(tmp_path, weight_decay=0.5))
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    set_rates(optimizer, tiny_config(tmp_path).stages[0], 1.0)
    optimizer.step()
    for name, p in model.named_parameters():
        shrunk = not torch.equal(p, before[name])
        assert shrunk == (p.dim() > 1), name


def test_the_encoder_has_a_rate_of_its_own(tmp_path: Path) -> None:
    model = tiny_model()
    config = tiny_config(tmp_path)
    optimizer = make_optimizer(model, config)
    stage = Stage(train=config.stages[0].train, steps=1, encoder_learning_rate=0.25, learning_rate=2.0)
    set_rates(optimizer, stage, 0.5)
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    for name, parameter in model.named_parameters():
        assert rates[id(parameter)] == (0.125 if name.startswith("encoder.") else 1.0), name


# What shifts all scores of a softmax alike has no gradient but rounding errors, which may be 0.
SHIFTS = ("end.4.bias", "end.6.bias", "classifier.4.bias", "classifier.6.bias")


def trained(tmp_path: Path, **changes: bool) -> tuple[LinkingModel, LinkingModel]:
    config = tiny_config(tmp_path, validation=None, **changes)
    run = Run(config, initial_checkpoint(config))
    list(run.events())
    return initial_checkpoint(config).model, run.model


def test_frozen_embeddings_stay_and_all_else_learns(tmp_path: Path) -> None:
    before, after = trained(tmp_path, freeze_embeddings=True)
    old = before.state_dict()
    for name, tensor in after.state_dict().items():
        if name.endswith(SHIFTS):
            continue
        assert torch.equal(tensor, old[name]) == (name == "encoder.token_embeddings.weight"), name


def test_frozen_embeddings_freeze_the_output_matrix_that_is_tied_to_them(tmp_path: Path) -> None:
    before, after = trained(tmp_path, freeze_embeddings=True, tie_output=True)
    assert after.decoder.head.decoder.weight is after.encoder.token_embeddings.weight
    assert torch.equal(after.decoder.head.decoder.weight, before.encoder.token_embeddings.weight)
    assert not torch.equal(after.decoder.head.decoder.bias, before.decoder.head.decoder.bias)


@pytest.mark.parametrize("tied", [False, True])
def test_a_tied_output_matrix_stays_tied_while_it_learns(tmp_path: Path, tied: bool) -> None:
    _, after = trained(tmp_path, tie_output=tied)
    assert torch.equal(after.decoder.head.decoder.weight, after.encoder.token_embeddings.weight) == tied
