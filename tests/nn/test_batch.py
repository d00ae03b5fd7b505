"""Windows padded to one length, and grouped so that little is padded."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from parlink.nn.batch import collate
from parlink.text.windows import Window, by_length


@st.composite
def any_window(draw: st.DrawFn) -> Window:
    length = draw(st.integers(1, 9))
    offset = draw(st.integers(0, 5))
    first = draw(st.integers(0, length - 1))
    last = draw(st.integers(first + 1, length))
    ids = np.array([0, *draw(st.lists(st.integers(4, 99), min_size=length, max_size=length)), 2])
    case = draw(st.none() | st.lists(st.integers(0, 3), min_size=length + 2, max_size=length + 2).map(np.array))
    return Window(ids, offset, offset + first, offset + last, case)


@given(st.lists(any_window(), min_size=1, max_size=5))
def test_a_batch_says_what_is_text_and_what_each_window_judges(windows: list[Window]) -> None:
    batch = collate(windows, pad_id=1)
    assert batch.tokens.shape == (len(windows), max(len(window.ids) for window in windows))
    for row, window in enumerate(windows):
        length = len(window.ids)
        assert batch.tokens[row, :length].tolist() == window.ids.tolist()
        assert (batch.tokens[row, length:] == 1).all()
        assert torch.nonzero(batch.mask[row])[:, 0].tolist() == list(range(length))
        assert torch.nonzero(batch.content[row])[:, 0].tolist() == list(range(1, length - 1))
        judged = range(window.own_first - window.offset + 1, window.own_last - window.offset + 1)
        assert torch.nonzero(batch.owned[row])[:, 0].tolist() == list(judged)
        if batch.case is not None:
            case = np.zeros(length) if window.case is None else window.case
            assert batch.case[row].tolist() == [*case, *[0] * (batch.case.shape[1] - length)]
    assert (batch.case is None) == all(window.case is None for window in windows)


@given(st.lists(st.integers(1, 50), max_size=30), st.integers(1, 200))
def test_groups_hold_every_index_once_and_no_more_tokens_than_allowed(lengths: list[int], limit: int) -> None:
    groups = list(by_length(lengths, batch_tokens=limit))
    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
    for group in groups:
        assert len(group) == 1 or len(group) * max(lengths[i] for i in group) <= limit
    for longer, shorter in pairwise(groups):
        assert (len(longer) + 1) * lengths[longer[0]] > limit  # there was no room for one more
        assert min(lengths[i] for i in longer) >= max(lengths[i] for i in shorter)
