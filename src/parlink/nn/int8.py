"""A linear map in 8 bits: a scale for each row of the weights, and one for each token.

Whole numbers are multiplied by oneDNN's kernel, and their sums are exact, so that what a token gets does not depend on
the tokens that are computed beside it.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

# CPUs without VNNI add two products in 16 bits, which overflow if all 8 bits are used; 7 are safe there.
TokenBits = Literal[7, 8]
_LEAST = 1e-30  # of a largest weight or state, so that zeros can be divided by it


class Int8Linear(nn.Module):
    """A linear map of float32 states, in place of an `nn.Linear`; it can be neither trained nor saved."""

    def __init__(self, weight: Tensor, bias: Tensor | None, *, token_bits: TokenBits) -> None:
        super().__init__()
        self.scale = (weight.abs().amax(1) / 127).clamp_min(_LEAST)  # (outputs,)
        whole = (weight / self.scale[:, None]).round().to(torch.int8)
        self.packed: Tensor = torch.ops.onednn.qlinear_prepack(whole, None)
        self.zeros = torch.zeros(len(weight), dtype=torch.long)
        self.bias = weight.new_zeros(len(weight)) if bias is None else bias
        self.largest = 2 ** (token_bits - 1) - 1  # whole number of a token

    def forward(self, states: Tensor) -> Tensor:
        """Map states (..., inputs) to (..., outputs)."""
        flat = states.flatten(0, -2)
        scale = flat.abs().amax(1, keepdim=True).clamp_min_(_LEAST).div_(self.largest)  # (tokens, 1)
        shift = self.largest + 1  # the kernel wants them positive
        whole = (flat / scale).add_(shift + 0.5).to(torch.uint8)  # which cuts off, so that 0.5 rounds
        products = multiply(whole, shift, self.packed, self.scale, self.zeros)
        mapped = torch.addcmul(self.bias, products, scale, out=products)
        return mapped.view(*states.shape[:-1], len(self.scale))


def multiply(tokens: Tensor, shift: int, weight: Tensor, scale: Tensor, zeros: Tensor) -> Tensor:
    """Multiply whole numbers less a shift, (tokens, inputs), with packed weights of a scale each: (tokens, outputs)."""
    product: Tensor = torch.ops.onednn.qlinear_pointwise(
        tokens, 1.0, shift, weight, scale, zeros, None, 1.0, 0, torch.float32, "none", [], ""
    )
    return product
