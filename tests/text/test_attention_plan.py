"""A plan lets every token see what the encoder's rule says, and nothing else."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from parlink.text.attention_plan import plan_attention

LENGTHS = st.lists(st.integers(1, 30), min_size=1, max_size=4)


@given(LENGTHS, st.sampled_from([0, 2, 8, 64]), st.sampled_from([0, 3]))
def test_every_token_reads_once_and_sees_the_tokens_in_reach(lengths: list[int], window: int, front: int) -> None:
    plan = plan_attention(lengths, window=window, front=front)
    tokens = sum(lengths)
    seen = np.zeros((tokens, tokens), bool)
    reads = plan.queries.reshape(-1)
    visible, keys = plan.visible.reshape(len(reads), -1), np.repeat(plan.keys, plan.queries.shape[1], 0)
    assert reads[plan.back].tolist() == list(range(tokens))
    for token, place in enumerate(plan.back.tolist()):
        of_token = keys[place][visible[place]]
        assert len(set(of_token.tolist())) == len(of_token)
        seen[token, of_token] = True
    text = np.repeat(np.arange(len(lengths)), lengths)
    apart = np.abs(plan.place[:, None] - plan.place)
    wanted = apart <= (window // 2 if window else tokens)
    if window:
        wanted |= (plan.place < front) | (plan.place[:, None] < front)
    assert (seen == (wanted & (text[:, None] == text))).all()
