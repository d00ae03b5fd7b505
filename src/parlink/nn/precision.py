"""A model in fewer bits, for linking: its matrices in 8 bits on a CPU, or its encoder's layers in bfloat16 on a GPU."""

from __future__ import annotations

import torch
from torch import nn

from parlink.nn.int8 import Int8Linear, TokenBits
from parlink.nn.lstm import Int8Lstm, Lstm
from parlink.nn.model import LinkingModel

LEAST_OUTPUTS = 32  # of a linear map that is turned: fewer make no work


def to_int8(model: LinkingModel, *, token_bits: TokenBits) -> None:
    """Turn the matrices of a model to 8 bits, in place, but for its words, whose rows are looked up."""
    for part in (model.encoder.layers, model.detector.start, model.decoder):  # what is left of the detector is small
        _turn_linear(part, token_bits, words=model.decoder.head.decoder)
    if isinstance(model.decoder.lstm, Lstm):
        model.decoder.lstm = Int8Lstm(model.decoder.lstm, token_bits=token_bits)
    model.precision = "int8"


def to_bfloat16(model: LinkingModel) -> None:
    """Turn the layers of a model's encoder to bfloat16, in place."""
    model.encoder.layers.to(torch.bfloat16)
    model.encoder.compute_dtype = torch.bfloat16
    model.precision = "bfloat16"


def _turn_linear(module: nn.Module, token_bits: TokenBits, *, words: nn.Linear) -> None:
    for name, child in module.named_children():
        if isinstance(child, nn.Linear) and child is not words and child.out_features >= LEAST_OUTPUTS:
            setattr(module, name, Int8Linear(child.weight, child.bias, token_bits=token_bits))
        else:
            _turn_linear(child, token_bits, words=words)
