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
from torch import Tensor

from parlink.nn.forest import Integers, grow_flat, lay_flat


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
        return cls.from_flat(*lay_flat(sequences), groups=groups, roots=roots)

    @classmethod
    def from_flat(
        cls, flat: Integers, lengths: Integers, *, groups: Sequence[int] | Integers | None = None, roots: int = 1
    ) -> PrefixTree:
        """Build the trie of sequences laid end to end in `flat`."""
        forest = grow_flat(flat, lengths, groups=groups, roots=roots)
        name = np.argsort(forest.ends, kind="stable")
        end_node, first = np.unique(forest.ends[name], return_index=True)
        return cls(
            token=_tokens(forest.token),
            child=_indices(forest.child),
            level=torch.tensor(forest.level),
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
