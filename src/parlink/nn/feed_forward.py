"""The paper's FFNN: LayerNorm, a hidden layer with ReLU, LayerNorm, an output layer."""

from __future__ import annotations

from torch import nn


def feed_forward(inputs: int, hidden: int, outputs: int, *, dropout: float) -> nn.Sequential:
    """Build an FFNN [LayerNorm, hidden, ReLU, LayerNorm, outputs], with dropout before each linear map."""
    return nn.Sequential(
        nn.LayerNorm(inputs),
        nn.Dropout(dropout),
        nn.Linear(inputs, hidden),
        nn.ReLU(),
        nn.LayerNorm(hidden),
        nn.Dropout(dropout),
        nn.Linear(hidden, outputs),
    )
