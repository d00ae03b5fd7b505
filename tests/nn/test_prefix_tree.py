from __future__ import annotations

from itertools import pairwise

import torch
from hypothesis import given
from hypothesis import strategies as st

from parlink.nn.prefix_tree import PrefixTree

SEQUENCES = st.lists(st.lists(st.integers(0, 6), max_size=6), max_size=20)


def paths(tree: PrefixTree) -> list[tuple[int, tuple[int, ...]]]:
    """The root and the tokens that lead to each node, found by walking up."""
    parent, token = tree.parents().tolist(), tree.token.tolist()
    found: list[tuple[int, tuple[int, ...]]] = []
    for node, above in enumerate(parent):
        found.append((node, ()) if above < 0 else (found[above][0], (*found[above][1], token[node])))
    return found


@given(SEQUENCES)
def test_nodes_are_exactly_the_prefixes_of_the_sequences(sequences: list[list[int]]) -> None:
    nodes = [path for _, path in paths(PrefixTree.build(sequences))]
    prefixes = {tuple(s[:n]) for s in sequences for n in range(len(s) + 1)} | {()}
    assert len(nodes) == len(set(nodes))
    assert set(nodes) == prefixes


@given(SEQUENCES)
def test_children_of_many_nodes_are_the_next_tokens_sorted(sequences: list[list[int]]) -> None:
    tree = PrefixTree.build(sequences)
    children = tree.children(torch.arange(tree.nodes))
    for node, (_, path) in enumerate(paths(tree)):
        own = children.value[children.row == node]
        wanted = sorted({s[len(path)] for s in sequences if len(s) > len(path) and tuple(s[: len(path)]) == path})
        assert tree.token[own].tolist() == wanted


@given(SEQUENCES)
def test_every_sequence_ends_at_its_own_path(sequences: list[list[int]]) -> None:
    tree = PrefixTree.build(sequences)
    found = paths(tree)
    assert [found[node][1] for node in tree.ends().tolist()] == [tuple(s) for s in sequences]
    names = tree.names(torch.arange(tree.nodes))
    assert sorted(names.value.tolist()) == list(range(len(sequences)))
    for node, name in zip(names.row.tolist(), names.value.tolist(), strict=True):
        assert found[node][1] == tuple(sequences[name])


@given(st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(0, 4), max_size=4)), max_size=15))
def test_a_group_has_a_root_of_its_own(items: list[tuple[int, list[int]]]) -> None:
    tree = PrefixTree.build([s for _, s in items], groups=[g for g, _ in items], roots=4)
    found = paths(tree)
    assert tree.roots == 4
    assert [found[node] for node in tree.ends().tolist()] == [(g, tuple(s)) for g, s in items]


@given(SEQUENCES)
def test_levels_are_the_depths(sequences: list[list[int]]) -> None:
    tree = PrefixTree.build(sequences)
    bounds = tree.level.tolist()
    assert bounds[-1] == tree.nodes
    depth = [len(path) for _, path in paths(tree)]
    assert [depth.count(d) for d in range(max(depth) + 1)] == [b - a for a, b in pairwise(bounds)]


def test_names_with_equal_tokens_share_a_leaf_in_their_order() -> None:
    tree = PrefixTree.build([[5], [1, 2], [5]])
    assert tree.names(tree.ends()[:1]).value.tolist() == [0, 2]


def test_large_token_ids_survive() -> None:
    tree = PrefixTree.build([[250_001, 7], [65_535]])
    assert sorted(tree.token[1:].tolist()) == [7, 65_535, 250_001]
