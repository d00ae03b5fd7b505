"""The average of the weights over the last steps (EMA), which is often better than the weights of any one step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from parlink.training.interrupts import held


class WeightAverage:
    """An exponential moving average of the weights that learn; with a decay of 0 it is the weights themselves."""

    def __init__(self, model: nn.Module, *, decay: float) -> None:
        self.decay = decay
        learning = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
        self._learning = learning if decay else {}
        self.weights = {name: weight.detach().clone() for name, weight in self._learning.items()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Move towards the weights after a step; in the first steps faster, so as to forget where it began."""
        if self.weights:
            decay = min(self.decay, step / (step + 9))
            torch._foreach_lerp_(list(self.weights.values()), list(self._learning.values()), 1 - decay)

    def load(self, weights: dict[str, Tensor]) -> None:
        """Put back what was saved."""
        for name, weight in self.weights.items():
            weight.copy_(weights[name])

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Let the model have the average as its weights within the block; its own come back in any case."""
        self._exchange()
        try:
            yield
        finally:
            self._exchange()

    def _exchange(self) -> None:
        with held():  # all weights, or none
            for name, weight in self._learning.items():
                weight.data, self.weights[name] = self.weights[name], weight.data
