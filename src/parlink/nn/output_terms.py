"""What a loss needs of logits over the whole vocabulary, without keeping more than one matrix of that width.

Gradients are written out by hand: the output layer is a large part of the work of training, and most of its memory.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function


def output_terms(features: Tensor, weight: Tensor, bias: Tensor, token: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """log Z, the logit of `token` and the mean logit of each row: (rows,) each.

    The logits are `features @ weight.T + bias`, of features (rows, hidden) and weight (vocabulary, hidden).
    """
    terms: tuple[Tensor, Tensor, Tensor] = _OutputTerms.apply(features, weight, bias, token)  # type: ignore[no-untyped-call]
    return terms


class _OutputTerms(Function):
    @staticmethod
    def forward(
        ctx: Any, features: Tensor, weight: Tensor, bias: Tensor, token: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        kind = _matrix_type(features)
        rows, matrix = features.to(kind), weight.to(kind)
        logits = torch.addmm(bias.to(kind), rows, matrix.T).to(features.dtype)
        right, mean = logits.gather(1, token[:, None]).squeeze(1), logits.mean(1)
        log_z = torch.logsumexp(logits, 1)
        probability = logits.sub_(log_z[:, None]).exp_().to(kind)  # in place: the logits are not needed again
        ctx.save_for_backward(probability, rows, matrix, token)
        ctx.kind = features.dtype
        return log_z, right, mean

    @staticmethod
    def backward(ctx: Any, of_log_z: Tensor, of_right: Tensor, of_mean: Tensor) -> Any:
        """The gradient of row i's logits is of_log_z[i] p[i], plus of_right[i] at the token, plus of_mean[i] / V."""
        probability, rows, matrix, token = ctx.saved_tensors
        of_log_z, of_right, of_mean = (x.to(rows.dtype)[:, None] for x in (of_log_z, of_right, of_mean / len(matrix)))
        of_rows = of_weight = of_bias = None
        if ctx.needs_input_grad[0]:
            of_rows = of_log_z * (probability @ matrix) + of_right * matrix[token] + of_mean * matrix.sum(0)
        if ctx.needs_input_grad[1]:
            of_weight = probability.T @ (of_log_z * rows)
            of_weight.index_add_(0, token, of_right * rows).add_((of_mean * rows).sum(0))
        if ctx.needs_input_grad[2]:
            of_bias = (probability.T @ of_log_z).squeeze(1)
            of_bias.index_add_(0, token, of_right.squeeze(1)).add_(of_mean.sum())
        return *(None if x is None else x.to(ctx.kind) for x in (of_rows, of_weight, of_bias)), None


def _matrix_type(features: Tensor) -> torch.dtype:
    """The type that matrices are multiplied in here."""
    device = features.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else features.dtype
