"""Who sees whom in windows laid end to end, worked out before the encoder runs: the inputs of its exported graph.

Tokens are read in blocks. A block of half an attention window sees itself and its two neighbors; short windows of text,
and those of models in which some tokens see everything, are one block each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class AttentionPlan:
    """Blocks of tokens that read, and what each sees; a token's number counts through all windows."""

    place: Integers  # (tokens,) of each token in its window
    queries: Integers  # (blocks, reads) tokens that read; 0 where a block is not full
    keys: Integers  # (blocks, seen) tokens that they may see; 0 where there is none
    visible: Truths  # (blocks, reads, seen) which they see
    back: Integers  # (tokens,) where each token is among the queries, counted through all blocks


def plan_attention(lengths: Sequence[int], *, window: int, front: int = 0) -> AttentionPlan:
    """Plan for windows of so many tokens, of which each sees `window // 2` to each side, or all if that is 0.

    The first `front` tokens of a window are seen by all of it and see all of it.
    """
    length, longest, reach = np.asarray(lengths, np.int64), max(lengths), window // 2
    whole = not window or front > 0 or longest <= 3 * reach
    size, margin = (longest, 0) if whole else (reach, reach)
    many = -(-length // size)  # blocks of each window
    text = np.repeat(np.arange(len(length)), many)  # the window of each block
    first = (np.arange(len(text)) - (np.cumsum(many) - many)[text])[:, None] * size
    reads, seen = first + np.arange(size), first - margin + np.arange(size + 2 * margin)
    offset = np.cumsum(length) - length
    is_token = (seen >= 0) & (seen < length[text][:, None])
    visible = np.broadcast_to(is_token[:, None, :], (len(text), size, seen.shape[1]))
    if window:
        read, see = reads[:, :, None], seen[:, None, :]
        visible = visible & ((np.abs(read - see) <= reach) | (see < front) | (read < front))
    place = np.concatenate([np.arange(n) for n in lengths])
    before = np.repeat((np.cumsum(many) - many) * size, length)  # places in blocks before each window
    return AttentionPlan(
        place=place,
        queries=np.where(reads < length[text][:, None], reads + offset[text][:, None], 0),
        keys=np.where(is_token, seen + offset[text][:, None], 0),
        visible=visible,
        back=before + place,
    )
