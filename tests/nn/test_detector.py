"""Where mentions may start and end."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.nn.batch import collate
from parlink.nn.detector import Mentions, detect, judge
from parlink.text.windows import Window
from tiny_model import tiny_model

LENGTHS = st.lists(st.integers(1, 20), min_size=1, max_size=4)


def window(length: int, *, own: tuple[int, int] | None = None) -> Window:
    first, last = own or (0, length)
    return Window(np.arange(length + 2) % 13 + 3, 0, first, last)


@given(LENGTHS, st.integers(0, 30), st.integers(1, 15))
@settings(max_examples=40, deadline=None)
@torch.no_grad()
def test_ends_past_the_text_on_padding_or_special_tokens_are_impossible(
    lengths: list[int], seed: int, limit: int
) -> None:
    model = tiny_model(seed=seed, max_mention_tokens=limit)
    batch = collate([window(length) for length in lengths], pad_id=1)
    states = model.encode(batch)
    row, first = torch.nonzero(batch.content, as_tuple=True)
    logits = model.detector.end_logits(states, batch.content, row, first)
    assert logits.shape == (sum(lengths), limit)
    for own, start, ends in zip(row.tolist(), first.tolist(), logits, strict=True):
        room = lengths[own] + 1 - start  # up to the last real token, before the special one
        assert torch.isfinite(ends).tolist() == [k < room for k in range(limit)]


@given(LENGTHS, st.integers(0, 30))
@settings(max_examples=40, deadline=None)
@torch.no_grad()
def test_what_is_detected_is_the_likeliest_end_of_each_start_above_the_threshold(lengths: list[int], seed: int) -> None:
    model = tiny_model(seed=seed, spread=3.0).double()
    windows = [window(length, own=(length // 3, length)) for length in lengths]
    batch = collate(windows, pad_id=1)
    states = model.encode(batch)
    starts = model.detector.start_logits(states)
    threshold = float(starts.median())
    found = detect(model.detector, states, batch, threshold=threshold)
    wanted = []
    for row, one in enumerate(windows):
        for first in range(one.own_first + 1, len(one.ids) - 1):
            if starts[row, first] > threshold:
                ends = model.detector.end(
                    torch.stack(
                        [torch.cat([states[row, first], states[row, e]]) for e in range(first, len(one.ids) - 1)]
                    )
                )[:15, 0]
                log_p = torch.nn.functional.logsigmoid(starts[row, first]) + ends.log_softmax(0).max()
                wanted.append((row, first, first + int(ends.argmax()), float(log_p)))
    got = zip(found.mentions.row.tolist(), found.mentions.first.tolist(), found.mentions.last.tolist(), strict=True)
    assert list(got) == [(row, first, last) for row, first, last, _ in wanted]
    log_probability = torch.tensor([p for *_, p in wanted], dtype=torch.float64)
    torch.testing.assert_close(found.log_probability, log_probability)


@torch.no_grad()
def test_nothing_above_the_threshold_is_nothing() -> None:
    model = tiny_model()
    batch = collate([window(5)], pad_id=1)
    found = detect(model.detector, model.encode(batch), batch, threshold=1e9)
    assert len(found.mentions.row) == len(found.start_logit) == len(found.log_probability) == 0


def test_a_span_that_others_propose_is_judged_as_a_detected_one() -> None:
    model, batch = tiny_model().double(), collate([window(12), window(9)], pad_id=1)
    states = model.encode(batch)
    detected = detect(model.detector, states, batch, threshold=-100.0)
    judged = judge(model.detector, states, batch, detected.mentions)
    torch.testing.assert_close(judged.start_logit, detected.start_logit)
    torch.testing.assert_close(judged.log_probability, detected.log_probability)
    long = Mentions(*(torch.tensor([number]) for number in (0, 1, 1 + model.config.max_mention_tokens)))
    assert judge(model.detector, states, batch, long).log_probability.tolist() == [-torch.inf]


@given(LENGTHS, st.integers(0, 30))
@settings(max_examples=20, deadline=None)
@torch.no_grad()
def test_ends_are_scored_alike_token_by_token_and_pair_by_pair(lengths: list[int], seed: int) -> None:
    model = tiny_model(seed=seed, spread=3.0, dropout=0.0).double()
    batch = collate([window(length) for length in lengths], pad_id=1)
    states = model.encode(batch) + torch.arange(batch.tokens.shape[1])[:, None]  # with means of their own
    row, first = torch.nonzero(batch.content, as_tuple=True)
    by_token = model.detector.end_logits(states, batch.content, row, first)
    by_pair = model.train().detector.end_logits(states, batch.content, row, first)
    torch.testing.assert_close(by_token, by_pair)
