"""The parts of the decoder, against their formulas written out."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from parlink.nn.detector import feed_forward
from tiny_model import tiny_model


def layer_norm(states: Tensor, norm: nn.LayerNorm) -> Tensor:
    centered = states - states.mean(-1, keepdim=True)
    scaled = centered / (centered.pow(2).mean(-1, keepdim=True) + norm.eps).sqrt()
    return scaled * norm.weight + norm.bias


@torch.no_grad()
def test_the_output_head_is_dense_gelu_norm_and_a_matrix() -> None:
    head = tiny_model(seed=2, spread=3.0).decoder.head.double()
    hidden = torch.randn(20, head.dense.in_features, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    dense = hidden @ head.dense.weight.T + head.dense.bias
    gelu = dense * 0.5 * (1 + torch.erf(dense / math.sqrt(2)))
    features = layer_norm(gelu, head.norm)
    torch.testing.assert_close(head.features(hidden), features)
    logits = features @ head.decoder.weight.T + head.decoder.bias
    token = torch.arange(20) % head.decoder.out_features
    torch.testing.assert_close(head.logits(features, token), logits[torch.arange(20), token])


@torch.no_grad()
def test_the_papers_feed_forward_net_is_norm_relu_norm() -> None:
    torch.manual_seed(3)
    net = feed_forward(6, 5, 2, dropout=0.5).double().eval()
    norm, _, hidden, _, second, _, outputs = net
    states = torch.randn(20, 6, dtype=torch.float64)
    inner = (layer_norm(states, norm) @ hidden.weight.T + hidden.bias).clamp(min=0)
    torch.testing.assert_close(net(states), layer_norm(inner, second) @ outputs.weight.T + outputs.bias)
