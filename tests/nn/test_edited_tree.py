"""A tree under changes is the tree that would be built anew."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from parlink.nn.edited_tree import edit
from parlink.nn.prefix_tree import NameTree, PrefixTree

Name = tuple[int, ...]
NAMES = st.lists(st.lists(st.integers(1, 4), max_size=4).map(tuple), max_size=12)


def contents(tree: NameTree) -> dict[Name, set[int]]:
    """Every prefix to which nodes lead, and the names that end there; a prefix has one node."""
    at: list[tuple[Name, int]] = [((), 0)]
    found: dict[Name, set[int]] = {}
    while at:
        nodes = torch.tensor([node for _, node in at])
        names, children = tree.names(nodes), tree.children(nodes)
        for prefix, _ in at:
            assert prefix not in found
            found[prefix] = set()
        for row, name in zip(names.row.tolist(), names.value.tolist(), strict=True):
            found[at[row][0]].add(name)
        assert names.row.tolist() == sorted(names.row.tolist()) and children.row.tolist() == sorted(
            children.row.tolist()
        )
        tokens = tree.tokens(children.value).tolist()
        rows = zip(children.row.tolist(), tokens, children.value.tolist(), strict=True)
        at = [((*at[row][0], token), node) for row, token, node in rows]
    return found


@given(NAMES, NAMES, st.data())
def test_a_tree_under_changes_is_the_one_built_anew(names: list[Name], added: list[Name], data: st.DataObject) -> None:
    gone = data.draw(st.sets(st.sampled_from(range(len(names)))) if names else st.just(set()))
    tree = PrefixTree.build(names)
    edited = edit(tree, removed=[names[i] for i in sorted(gone)], removed_names=sorted(gone), added=added)
    kept = [i for i in range(len(names)) if i not in gone] + [len(names) + i for i in range(len(added))]
    anew = contents(PrefixTree.build([(names + added)[i] for i in kept]))
    assert contents(edited) == {prefix: {kept[i] for i in ends} for prefix, ends in anew.items()}
    assert contents(edited.over(tree.to("cpu"))) == contents(edited)
