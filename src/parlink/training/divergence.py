"""Stop a run whose loss has diverged, and name the batch at which it is seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from parlink.errors import TrainingError
from parlink.nn.losses import PARTS
from parlink.train_config import TrainConfig
from parlink.training.examples import Example
from parlink.training.state import Progress, has_state

WORSE = 3.0  # times the loss of guessing, or that of the first step if it is higher


def check_divergence(
    parts: Tensor, norm: Tensor, examples: Sequence[Example], progress: Progress, *, folder: Path, vocabulary: int
) -> None:
    """Raise if a loss or the gradient is not finite, or if the mean loss of the latest steps is far too high.

    `parts` are the losses of `examples`, each a mean, and `folder` is that of the checkpoint.
    """
    finite = bool(torch.isfinite(norm) and torch.isfinite(parts).all())
    highest = WORSE * max(loss_of_guessing(progress.config, vocabulary), progress.first_loss or 0.0)
    if finite and (progress.mean_loss or 0.0) <= highest:
        return
    what = f"its mean of late is {progress.mean_loss:.3g}, worse than guessing" if finite else "it is not finite"
    values = ", ".join(f"{name} {value:.3g}" for name, value in zip(PARTS, parts.tolist(), strict=True))
    named = ", ".join(sorted({example.document or "without an id" for example in examples})[:8])
    kept = f"the last checkpoint is in {folder}" if has_state(folder) else "no checkpoint was saved yet"
    raise TrainingError(
        f"step {progress.total + 1}: the loss has diverged, {what} ({values}, norm of the gradient {norm:.3g}); "
        f"documents of the batch: {named}; {kept}. Lower the learning rates and start again"
    )


def loss_of_guessing(config: TrainConfig, vocabulary: int) -> float:
    """The loss of a model that gives all answers the same probability."""
    wrong = config.negatives + config.batch_negatives + config.hard_negatives + config.type_negatives
    names = 1 + wrong + config.nil
    answers = (2, config.max_mention_tokens, vocabulary, names, 1, names if config.similarity else 1)
    return sum(weight * math.log(count) for weight, count in zip(config.loss_weights, answers, strict=True))
