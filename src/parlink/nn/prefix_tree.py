"""Names as an array trie over token ids: the titles of a KB, or the candidates of many mentions at once.

Nodes are numbered level by level, and the children of a node are neighbors, sorted by token:

    node      0 .. roots-1 | depth 1 ........ | depth 2 ...
    token     (unused)     | token read to reach the node
    child     the children of node i are child[i] .. child[i + 1] - 1

A name is the path from a root to the node that reads its last token; what follows it is `</s>`.
Names with equal tokens end at the same node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ragged:
    """Lists of different lengths, flattened: `value[i]` belongs to list `row[i]`."""

    row: Tensor  # (values,)
    value: Tensor  # (values,)


class NameTree(Protocol):
    """What a search needs of a tree of names, whether it is as it was built or edited."""

    def children(self, nodes: Tensor) -> Ragged:
        """The children of many nodes at once, by row."""
        ...

    def names(self, nodes: Tensor) -> Ragged:
        """The names that end at each of `nodes`, by row."""
        ...

    def tokens(self, nodes: Tensor) -> Tensor:
        """The token that is read to reach each node."""
        ...


@dataclass(frozen=True, slots=True)
class PrefixTree:
    """A set of token sequences, as a forest with one root a group."""

    token: Tensor  # (nodes,)
    child: Tensor  # (nodes + 1,)
    level: Tensor  # (depths + 1,) where each depth begins, and the number of nodes
    end_node: Tensor  # (ends,) nodes that end a name, ascending
    end_name: Tensor  # (ends + 1,) the names that end there: name[end_name[i]:end_name[i + 1]]
    name: Tensor  # (names,) indices of the sequences, in the order given among equals

    @classmethod
    def build(
        cls,
        sequences: Sequence[Sequence[int] | Integers],
        *,
        groups: Sequence[int] | Integers | None = None,
        roots: int = 1,
    ) -> PrefixTree:
        """Build the trie of `sequences`; with `groups`, sequence i goes below root `groups[i]` of `roots`."""
        lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
        flat = np.empty(int(lengths.sum()), np.int64)
        if len(flat):
            np.concatenate([np.asarray(s, np.int64) for s in sequences if len(s)], out=flat)
        return cls.from_flat(flat, lengths, groups=groups, roots=roots)

    @classmethod
    def from_flat(
        cls, flat: Integers, lengths: Integers, *, groups: Sequence[int] | Integers | None = None, roots: int = 1
    ) -> PrefixTree:
        """Build the trie of sequences laid end to end in `flat`."""
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
        child = np.cumsum(np.concatenate([[roots], *counts]))
        name = np.argsort(ends, kind="stable")
        end_node, first = np.unique(ends[name], return_index=True)
        return cls(
            token=_tokens(np.concatenate(tokens)),
            child=_indices(child),
            level=torch.tensor(level[:-1]),
            end_node=_indices(end_node),
            end_name=_indices(np.append(first, len(name))),
            name=_indices(name),
        )

    @property
    def roots(self) -> int:
        """How many roots there are; they are the first nodes."""
        return int(self.level[1])

    @property
    def nodes(self) -> int:
        """How many nodes there are, roots included."""
        return len(self.token)

    def children(self, nodes: Tensor) -> Ragged:
        """The children of many nodes at once."""
        index = nodes.long()
        return _ranges(self.child[index].long(), self.child[index + 1].long())

    def names(self, nodes: Tensor) -> Ragged:
        """The names that end at each of `nodes`."""
        if not len(self.end_node):
            return Ragged(nodes.new_empty(0), nodes.new_empty(0))
        at = torch.searchsorted(self.end_node, nodes.to(self.end_node.dtype)).clamp_(max=len(self.end_node) - 1)
        first, last = self.end_name[at].long(), self.end_name[at + 1].long()
        listed = _ranges(first, torch.where(self.end_node[at] == nodes, last, first))
        return Ragged(listed.row, self.name[listed.value].long())

    def tokens(self, nodes: Tensor) -> Tensor:
        """The token that is read to reach each node."""
        return self.token[nodes].long()

    def parents(self) -> Tensor:
        """The parent of every node, -1 for roots."""
        counts = (self.child[1:] - self.child[:-1]).long()
        parents = torch.repeat_interleave(torch.arange(self.nodes, device=counts.device), counts)
        return torch.cat([parents.new_full((self.roots,), -1), parents])

    def ends(self) -> Tensor:
        """The node at which each sequence ends, in the order the sequences were given."""
        ends = torch.empty(len(self.name), dtype=torch.long, device=self.name.device)
        ends[self.name.long()] = torch.repeat_interleave(
            self.end_node.long(), (self.end_name[1:] - self.end_name[:-1]).long()
        )
        return ends

    def to(self, device: torch.device | str) -> PrefixTree:
        """The same tree on another device."""
        return PrefixTree(**{field: tensor.to(device) for field, tensor in self.tensors().items()})

    def tensors(self) -> dict[str, Tensor]:
        """All that the tree is made of, by the names of the fields."""
        return {field: getattr(self, field) for field in self.__slots__}


def _tokens(values: Integers) -> Tensor:
    """Token ids in 16 bits where they fit."""
    return torch.from_numpy(values.astype(np.uint16 if values.max(initial=0) < 1 << 16 else np.int32))


def _indices(values: Integers) -> Tensor:
    """Node and name numbers in 32 bits where they fit."""
    return torch.from_numpy(values.astype(np.int32 if values.max(initial=0) < 1 << 31 else np.int64))


def _ranges(first: Tensor, last: Tensor) -> Ragged:
    """All integers of each range `[first, last)`."""
    counts = last - first
    row = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
    begin = torch.cumsum(counts, 0) - counts
    value = torch.arange(len(row), device=row.device) + (first - begin)[row]
    return Ragged(row, value)
