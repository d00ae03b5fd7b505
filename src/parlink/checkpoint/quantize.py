"""Weights in 6, 8 or 16 bits, for models that travel; widened to float32 when they are read.

Those of 6 bits take a byte each too, but few of its values, so that a wheel or any other archive shrinks them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import torch
from torch import Tensor

from parlink.errors import CheckpointError

Bits = Literal[6, 8, 16, 32]
SCALE = ".scale"  # after a matrix's name: what one step of each of its rows is worth


def quantize(weights: Mapping[str, Tensor], bits_of: Callable[[str], Bits]) -> dict[str, Tensor]:
    """Narrow the matrices: to float16, or to small whole numbers with a scale per row; vectors stay as they are."""
    packed: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        bits = bits_of(name)
        if bits == 32 or tensor.dim() < 2:
            packed[name] = tensor
        elif bits == 16:
            packed[name] = tensor.half()
        else:
            packed[name], packed[name + SCALE] = _whole_numbers(tensor, largest=2 ** (bits - 1) - 1)
    return packed


def dequantize(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Widen what `quantize` has narrowed."""
    scales = {name for name in weights if name.endswith(SCALE) and name.removesuffix(SCALE) in weights}
    for name in scales:
        matrix = weights[name.removesuffix(SCALE)]
        if weights[name].shape != (*matrix.shape[:-1], 1):  # anything else would be broadcast, to any size
            got, wanted = tuple(weights[name].shape), (*matrix.shape[:-1], 1)
            raise CheckpointError(f"{name!r} has shape {got}, wanted {wanted}; the weights are damaged")
    return {
        name: tensor.float() * weights[name + SCALE] if name + SCALE in scales else tensor.float()
        for name, tensor in weights.items()
        if name not in scales
    }


def _whole_numbers(matrix: Tensor, *, largest: int) -> tuple[Tensor, Tensor]:
    scale = (matrix.abs().amax(dim=-1, keepdim=True) / largest).clamp_min(1e-30)
    return (matrix / scale).round().to(torch.int8), scale
