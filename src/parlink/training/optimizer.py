"""AdamW with two learning rates, and warm-up followed by linear decay."""

from __future__ import annotations

import torch

from parlink.nn.model import LinkingModel
from parlink.train_config import Stage, TrainConfig


def make_optimizer(model: LinkingModel, config: TrainConfig) -> torch.optim.AdamW:
    """Group the weights: encoder and rest have their own rates; LayerNorms and biases are not decayed."""
    if config.freeze_embeddings:
        model.encoder.token_embeddings.weight.requires_grad_(False)
    encoder = {id(p) for p in model.encoder.parameters()}
    plain = {id(p) for p in model.parameters() if p.dim() < 2}  # LayerNorms, biases and single weights
    groups = []
    for in_encoder in (True, False):
        for decayed in (True, False):
            weights = [
                p
                for p in model.parameters()
                if p.requires_grad and (id(p) in encoder) == in_encoder and (id(p) not in plain) == decayed
            ]
            decay = config.weight_decay if decayed else 0.0
            groups.append({"params": weights, "weight_decay": decay, "in_encoder": in_encoder, "lr": 0.0})
    return torch.optim.AdamW(groups, fused=True)


def lr_factor(step: int, *, stage: Stage, planned: int) -> float:
    """The factor on the learning rates at a step of a stage, 0 to 1."""
    warmup = stage.warmup_ratio * planned if stage.warmup_ratio is not None else stage.warmup_steps or 0
    end = stage.decay_ratio * planned if stage.decay_ratio is not None else stage.decay_steps or 0
    rising = (step + 1) / warmup if warmup else 1.0
    falling = (end - step) / max(end - warmup, 1)
    return max(0.0, min(1.0, rising, falling))


def set_rates(optimizer: torch.optim.Optimizer, stage: Stage, factor: float) -> None:
    """Scale the two learning rates of a stage."""
    for group in optimizer.param_groups:
        group["lr"] = factor * (stage.encoder_learning_rate if group["in_encoder"] else stage.learning_rate)
