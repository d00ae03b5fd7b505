"""A prefix tree under changes: names taken out and names put in, at a cost that goes by the changes, not by the tree.

The tree itself stays as it is on disk. What is put in hangs below it: new nodes, numbered after those of the tree, in
a forest whose roots are the nodes at which a new name leaves the tree. A node below which no name is left is dead:
nobody comes there, so that a search over the edited tree goes as one over a tree that was built anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from parlink.nn.prefix_tree import PrefixTree, Ragged

Integers = NDArray[np.int64]
Sequences = Sequence[Sequence[int] | Integers]


@dataclass(frozen=True, slots=True)
class EditedTree:
    """A tree without some of its names, and with others."""

    tree: PrefixTree
    removed: Tensor  # (removed,) names of the tree that are taken out, ascending
    dead: Tensor  # (dead,) nodes of the tree below which no name is left, ascending
    grafts: PrefixTree  # what is put in, below the nodes where it leaves the tree; names follow those of the tree
    stem: Tensor  # (roots of the grafts,) these nodes, ascending
    names_before: int  # number of the first name that is put in

    def children(self, nodes: Tensor) -> Ragged:
        """The children of many nodes at once."""
        (old, grown), index = self._split(nodes), nodes.long()
        below = self.tree.children(index[old])
        alive = ~_is_in(below.value, self.dead)
        new = self.grafts.children(self._graft(index[grown]))
        return _join(
            Ragged(old[below.row][alive], below.value[alive]),
            Ragged(grown[new.row], new.value + (self.tree.nodes - self.grafts.roots)),
        )

    def names(self, nodes: Tensor) -> Ragged:
        """The names that end at each of `nodes`."""
        (old, grown), index = self._split(nodes), nodes.long()
        there = self.tree.names(index[old])
        left = ~_is_in(there.value, self.removed)
        new = self.grafts.names(self._graft(index[grown]))
        return _join(
            Ragged(old[there.row][left], there.value[left]), Ragged(grown[new.row], new.value + self.names_before)
        )

    def tokens(self, nodes: Tensor) -> Tensor:
        """The token that is read to reach each node."""
        is_old = nodes < self.tree.nodes
        new = self.grafts.token[(nodes - self.tree.nodes + self.grafts.roots).clamp(min=0)].long()
        return torch.where(is_old, self.tree.token[nodes.clamp(max=self.tree.nodes - 1)].long(), new)

    def over(self, tree: PrefixTree) -> EditedTree:
        """The same changes over a copy of the tree that is on another device."""
        device = tree.token.device
        removed, dead, stem = (part.to(device) for part in (self.removed, self.dead, self.stem))
        return EditedTree(tree, removed, dead, self.grafts.to(device), stem, self.names_before)

    def _split(self, nodes: Tensor) -> tuple[Tensor, Tensor]:
        """Which of the nodes are of the tree, and which have something put in below them."""
        is_old = nodes < self.tree.nodes
        return torch.nonzero(is_old).squeeze(1), torch.nonzero(~is_old | _is_in(nodes, self.stem)).squeeze(1)

    def _graft(self, nodes: Tensor) -> Tensor:
        """The numbers of nodes among those of the grafts."""
        is_old = nodes < self.tree.nodes
        return torch.where(is_old, torch.searchsorted(self.stem, nodes), nodes - self.tree.nodes + self.grafts.roots)


def edit(tree: PrefixTree, *, removed: Sequences, removed_names: Sequence[int], added: Sequences) -> EditedTree:
    """Take names out of a tree of one root, and put others in; those are numbered after the tree's, in their order.

    `removed` are the tokens of the names with the numbers `removed_names`.
    """
    stem, grafts = _plant(tree, added)
    return EditedTree(
        tree=tree,
        removed=torch.from_numpy(np.sort(np.asarray(removed_names, np.int64))),
        dead=torch.from_numpy(_find_dead(tree, _walk(tree, removed), stem)),
        grafts=grafts,
        stem=torch.from_numpy(stem),
        names_before=len(tree.name),
    )


def _plant(tree: PrefixTree, added: Sequences) -> tuple[Integers, PrefixTree]:
    """The nodes at which new names leave the tree, and the rest of these names below them."""
    paths = _walk(tree, added)
    stem, groups = np.unique(_last(paths), return_inverse=True)
    depth = (paths >= 0).sum(1) - 1  # how many tokens of each name the tree has
    rest = [tokens[known:] for tokens, known in zip(added, depth.tolist(), strict=True)]
    return stem, PrefixTree.build(rest, groups=groups, roots=max(len(stem), 1))


def _walk(tree: PrefixTree, sequences: Sequences) -> Integers:
    """The nodes on the way of each sequence, (sequences, longest + 1), the root first; -1 behind the tree's last."""
    longest = max(map(len, sequences), default=0)
    wanted = np.full((len(sequences), longest), -1, np.int64)
    for row, sequence in zip(wanted, sequences, strict=True):
        row[: len(sequence)] = sequence
    paths = np.full((len(sequences), longest + 1), -1, np.int64)
    paths[:, 0] = 0
    for depth in range(longest):
        alive = np.flatnonzero((paths[:, depth] >= 0) & (wanted[:, depth] >= 0))
        paths[alive, depth + 1] = _find_children(tree, paths[alive, depth], wanted[alive, depth])
    return paths


def _find_children(tree: PrefixTree, nodes: Integers, tokens: Integers) -> Integers:
    """The child of each node by a token, else -1: bisection among the siblings, which are sorted by token."""
    child, token = tree.child.numpy(), tree.token.numpy()
    low, end = child[nodes].astype(np.int64), child[nodes + 1].astype(np.int64)
    high = end
    while (searching := low < high).any():
        middle = np.where(searching, (low + high) // 2, 0)
        is_right = searching & (token[middle] < tokens)
        low, high = np.where(is_right, middle + 1, low), np.where(searching & ~is_right, middle, high)
    exists = low < end
    return np.where(exists & (token[np.where(exists, low, 0)] == tokens), low, -1)


def _find_dead(tree: PrefixTree, paths: Integers, stem: Integers) -> Integers:
    """The nodes on the ways of removed names below which no name is left, ascending."""
    dead = [np.empty(0, np.int64)]
    lost = _last(paths)  # a node for every name, or child, that it loses
    for depth in range(paths.shape[1] - 1, 0, -1):
        nodes, row = np.unique(paths[:, depth], return_index=True)
        nodes, row = nodes[nodes >= 0], row[nodes >= 0]
        at, lost = torch.from_numpy(nodes), np.sort(lost)
        rows = torch.cat([tree.children(at).row, tree.names(at).row]).numpy()
        losses = np.searchsorted(lost, nodes, side="right") - np.searchsorted(lost, nodes, side="left")
        is_dead = (np.bincount(rows, minlength=len(nodes)) == losses) & ~np.isin(nodes, stem)
        dead.append(nodes[is_dead])
        lost = np.append(lost, paths[row[is_dead], depth - 1])
    return np.sort(np.concatenate(dead))


def _last(paths: Integers) -> Integers:
    """The last node of each way."""
    ends: Integers = paths[np.arange(len(paths)), (paths >= 0).sum(1) - 1]
    return ends


def _is_in(values: Tensor, ascending: Tensor) -> Tensor:
    """Which of the values are among some that ascend."""
    if not len(ascending):
        return torch.zeros_like(values, dtype=torch.bool)
    return ascending[torch.searchsorted(ascending, values).clamp(max=len(ascending) - 1)] == values


def _join(first: Ragged, second: Ragged) -> Ragged:
    """The values of two ragged lists by row, the first one's first."""
    row = torch.cat([first.row, second.row])
    order = torch.argsort(row, stable=True)
    return Ragged(row[order], torch.cat([first.value, second.value])[order])
