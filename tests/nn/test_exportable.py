"""What is traced for onnxruntime computes what the model computes, for windows of any lengths."""

from __future__ import annotations

import pytest
import torch

from parlink.nn.exportable import EncoderGraph
from parlink.text.attention_plan import plan_attention
from tiny_model import tiny_model

SHAPES = ([1], [4], [5, 3], [16, 16], [13, 12], [50, 40, 11], [64, 2, 30, 64])


@pytest.mark.parametrize("changes", [{}, {"window": 0}, {"global_tokens": 3}, {"window": 2}])
@torch.no_grad()
def test_windows_end_to_end_have_the_states_of_padded_ones(changes: dict[str, int]) -> None:
    model = tiny_model(seed=3, spread=2.0, **changes)
    for lengths in SHAPES:
        mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
        tokens = torch.randint(0, 16, mask.shape, generator=torch.Generator().manual_seed(7))
        plan = plan_attention(lengths, window=model.config.window, front=model.encoder.front)
        arrays = (plan.place, plan.queries, plan.keys, plan.visible.copy(), plan.back)
        states, starts = EncoderGraph(model)(
            model.encoder.token_embeddings(tokens[mask]), *map(torch.from_numpy, arrays)
        )
        wanted = model.encoder(tokens, mask)[mask]
        torch.testing.assert_close(states, wanted, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(starts, model.detector.start_logits(wanted), atol=1e-4, rtol=1e-4)
