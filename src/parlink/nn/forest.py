"""Names as a forest of token ids, in arrays of numpy: what a `PrefixTree` is made of, and all that scoring needs.

Nodes are numbered level by level, and the children of a node are neighbors, sorted by token.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Forest:
    """Token sequences that share their prefixes, below one root a group."""

    token: Integers  # (nodes,) read to reach the node; 0 at roots, which come first
    child: Integers  # (nodes + 1,) the children of node i are child[i] .. child[i + 1] - 1
    level: list[int]  # where each depth begins, and the number of nodes
    ends: Integers  # (sequences,) the node at which each ends

    @property
    def roots(self) -> int:
        """How many roots there are."""
        return self.level[1]

    def parents(self) -> Integers:
        """The parent of every node, -1 for roots."""
        below = np.repeat(np.arange(len(self.token)), np.diff(self.child))
        return np.concatenate([np.full(self.roots, -1), below])


def grow(sequences: Sequence[Sequence[int] | Integers], *, groups: Integers | None = None, roots: int = 1) -> Forest:
    """Build the forest of `sequences`; with `groups`, sequence i goes below root `groups[i]` of `roots`."""
    return grow_flat(*lay_flat(sequences), groups=groups, roots=roots)


def lay_flat(sequences: Sequence[Sequence[int] | Integers]) -> tuple[Integers, Integers]:
    """Lay sequences end to end: all their tokens, and how many each has."""
    lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
    flat = np.empty(int(lengths.sum()), np.int64)
    if len(flat):
        np.concatenate([np.asarray(s, np.int64) for s in sequences if len(s)], out=flat)
    return flat, lengths


def grow_flat(
    flat: Integers, lengths: Integers, *, groups: Sequence[int] | Integers | None = None, roots: int = 1
) -> Forest:
    """Build the forest of sequences laid end to end in `flat`."""
    node = np.zeros(len(lengths), np.int64) if groups is None else np.asarray(groups, np.int64)
    position = np.cumsum(lengths) - lengths
    base = int(flat.max(initial=0)) + 1
    tokens, counts = [np.zeros(roots, np.int64)], []
    level, ends = [0, roots], np.empty(len(lengths), np.int64)
    alive = np.arange(len(lengths))
    for depth in range(int(lengths.max(initial=0)) + 1):
        done = lengths[alive] == depth
        ends[alive[done]] = node[done]
        alive, node = alive[~done], node[~done]
        # Sorting (node, next token) numbers the children and keeps siblings together.
        keys, inverse = np.unique(node * base + flat[position[alive] + depth], return_inverse=True)
        tokens.append(keys % base)
        counts.append(np.bincount(keys // base - level[-2], minlength=level[-1] - level[-2]))
        node = level[-1] + inverse
        level.append(level[-1] + len(keys))
    return Forest(np.concatenate(tokens), np.cumsum(np.concatenate([[roots], *counts])), level[:-1], ends)


def chunks(sizes: Sequence[int], *, limit: int) -> Iterator[tuple[int, int]]:
    """Ranges of neighbors whose sizes sum to at most `limit`, or of one that is larger."""
    first, filled = 0, 0
    for index, size in enumerate(sizes):
        if filled and filled + size > limit:
            yield first, index
            first, filled = index, 0
        filled += size
    if first < len(sizes):
        yield first, len(sizes)
