"""Gradients by hand are those that torch finds by itself."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from parlink.nn.output_terms import output_terms


def plain(features: Tensor, weight: Tensor, bias: Tensor, token: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    logits = features @ weight.T + bias
    return logits.logsumexp(1), logits.gather(1, token[:, None])[:, 0], logits.mean(1)


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_values_and_gradients_are_those_of_the_plain_way(rows: int) -> None:
    torch.manual_seed(rows)
    inputs = [torch.randn(shape, dtype=torch.float64) for shape in ((rows, 5), (11, 5), (11,))]
    ours, theirs = ([x.clone().requires_grad_() for x in inputs] for _ in range(2))
    token = torch.randint(11, (rows,))
    upstream = [torch.randn(rows, dtype=torch.float64) for _ in range(3)]
    got, wanted = output_terms(*ours, token), plain(*theirs, token)
    torch.testing.assert_close(got, wanted)
    for terms in (got, wanted):
        torch.autograd.backward(terms, upstream)
    torch.testing.assert_close([x.grad for x in ours], [x.grad for x in theirs])


def test_a_frozen_matrix_gets_no_gradient() -> None:
    features = torch.randn(3, 5, requires_grad=True)
    weight, bias = torch.randn(11, 5), torch.randn(11, requires_grad=True)
    log_z, right, _ = output_terms(features, weight, bias, torch.tensor([1, 2, 2]))
    (log_z - right).sum().backward()
    assert weight.grad is None
    assert features.grad is not None
    assert bias.grad is not None
