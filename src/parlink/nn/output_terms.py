"""What a loss needs of logits over the whole vocabulary, without ever keeping them.

Gradients are written out by hand: the output layer is a large part of the work of training, and would be most of its
memory. The logits are made for a few rows at a time, which stay in the cache, and once more on the way back.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

ROWS = 128  # whose logits are in memory at once


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
        log_z = torch.cat([_logits(part, matrix, bias).logsumexp(1) for part in torch.split(rows, ROWS)])
        right = (features * weight[token]).sum(1) + bias[token]
        mean = features @ weight.mean(0) + bias.mean()
        ctx.save_for_backward(features, rows, weight, matrix, bias, token, log_z)
        return log_z, right, mean

    @staticmethod
    def backward(ctx: Any, of_log_z: Tensor, of_right: Tensor, of_mean: Tensor) -> Any:
        """The gradient of row i's logits is of_log_z[i] p[i], plus of_right[i] at the token, plus of_mean[i] / V."""
        features, rows, weight, matrix, bias, token, log_z = ctx.saved_tensors
        of_log_z, of_right, of_mean = (x[:, None] for x in (of_log_z, of_right, of_mean / len(weight)))
        of_rows = of_right * weight[token] + of_mean * weight.sum(0)
        of_bias = torch.zeros_like(bias).index_add_(0, token, of_right.squeeze(1)).add_(of_mean.sum())
        of_weight = None
        if ctx.needs_input_grad[1]:
            of_weight = torch.zeros_like(weight).index_add_(0, token, of_right * features)
            of_weight += (of_mean * features).sum(0)
        for first in range(0, len(rows), ROWS):
            part = slice(first, first + ROWS)
            probability = _logits(rows[part], matrix, bias).sub_(log_z[part, None]).exp_()
            of_logits = probability.mul_(of_log_z[part])
            of_bias += of_logits.sum(0)
            of_logits = of_logits.to(rows.dtype)
            of_rows[part] += of_logits @ matrix
            if of_weight is not None:
                of_weight += of_logits.T @ rows[part]
        return of_rows, of_weight, of_bias, None


def _logits(rows: Tensor, matrix: Tensor, bias: Tensor) -> Tensor:
    return (rows @ matrix.T).to(bias.dtype).add_(bias)


def _matrix_type(features: Tensor) -> torch.dtype:
    """The type that matrices are multiplied in here."""
    device = features.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else features.dtype
