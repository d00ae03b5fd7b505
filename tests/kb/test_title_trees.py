from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.bars import LateBars
from parlink.errors import KnowledgeBaseError
from parlink.kb import KnowledgeBase
from parlink.kb.title_trees import TitleTree, load_tree, save_tree
from parlink.nn.prefix_tree import PrefixTree
from parlink.types import Entity
from tiny import byte_level_bpe, word_piece
from tiny_kb import LINES, tiny_folder, tiny_kb


def titles_in(titles: TitleTree) -> list[str]:
    """Every title that a search through the tree could return, and no node that leads to none."""
    nodes, found = torch.tensor([0]), []
    while len(nodes):
        names, children = titles.tree.names(nodes), titles.tree.children(nodes)
        found += [titles.title(number) for number in names.value.tolist()]
        leads = set(names.row.tolist()) | set(children.row.tolist())
        assert leads == set(range(len(nodes))) or found == []
        nodes = children.value
    return found


def test_the_tree_is_made_once_and_a_bar_tells_how_far_it_is(tmp_path, monkeypatch):
    shares = []
    monkeypatch.setattr(LateBars, "update", lambda bar, task, completed: shares.append(completed))
    monkeypatch.setattr("parlink.kb.title_trees._BATCH", 5)
    folder, tokenizer = tiny_folder(tmp_path), byte_level_bpe()
    KnowledgeBase.open(folder).title_tree(tokenizer)
    assert shares == [5 / 12, 10 / 12, 1.0]
    KnowledgeBase.open(folder).title_tree(tokenizer)
    assert len(shares) == 3


@pytest.mark.parametrize("tokenizer", [byte_level_bpe(), word_piece(lowercase=True)], ids=["bpe", "wordpiece"])
def test_the_tree_holds_every_title_under_its_tokens(tmp_path, tokenizer):
    kb = tiny_kb(tmp_path)
    base = kb.title_tree(tokenizer)
    assert sorted(titles_in(base)) == sorted(kb.titles())
    assert isinstance(base.tree, PrefixTree)
    ends = base.tree.ends()
    for number, title in enumerate(kb.titles()):
        node = torch.tensor([0])
        for token in tokenizer.title(title):
            children = base.tree.children(node).value
            node = children[base.tree.token[children].long() == token]
        assert ends[number] == node


def test_titles_that_share_a_leaf_are_listed_by_count(tmp_path):
    spellings = {"kent": 3, "Kent": 9, "KENT": 5, "Kènt": 7}
    kb = tiny_kb(tmp_path, [{"title": title, "count": count} for title, count in spellings.items()])
    base = kb.title_tree(word_piece(lowercase=True))
    assert isinstance(base.tree, PrefixTree)
    leaf = base.tree.ends()[:1]
    assert [base.title(n) for n in base.tree.names(leaf).value.tolist()] == ["Kent", "Kènt", "KENT", "kent"]


@settings(max_examples=15, deadline=None)
@given(
    removed=st.sets(st.sampled_from([line["title"] for line in LINES]), max_size=4),
    renamed=st.sets(st.sampled_from([line["title"] for line in LINES]), max_size=4),
    added=st.sets(st.sampled_from(["Bremen", "Ulm", "Jena"])),
)
def test_the_tree_holds_the_titles_of_now(removed, renamed, added, tmp_path_factory):
    kb = tiny_kb(tmp_path_factory.mktemp("kb"))
    for title in renamed:
        kb.rename(title, f"{title} (new)")
    for title in removed - renamed:
        kb.remove(title)
    for title in added:
        kb.add(Entity(title))
    before, titles = kb.snapshot(), sorted(kb.titles())
    assert sorted(titles_in(kb.title_tree(byte_level_bpe()))) == titles
    kb.add(Entity("Gera"))
    assert sorted(titles_in(kb.title_tree(byte_level_bpe()))) == sorted([*titles, "Gera"])
    assert sorted(titles_in(kb.title_tree(byte_level_bpe(), view=before))) == titles


def test_a_folder_that_is_replaced_under_an_open_one_keeps_its_own_tree(tmp_path):
    old = KnowledgeBase.open(tiny_folder(tmp_path))
    new = KnowledgeBase.open(tiny_folder(tmp_path, [{"title": "Ulm"}, {"title": "Kent"}]))
    assert sorted(titles_in(old.title_tree(byte_level_bpe()))) == sorted(old.titles())
    assert sorted(titles_in(new.title_tree(byte_level_bpe()))) == ["Kent", "Ulm"]


def test_look_ups_do_not_wait_for_a_tree_that_is_being_made(tmp_path):
    kb, tokenizer, begun, released = tiny_kb(tmp_path), byte_level_bpe(), threading.Event(), threading.Event()

    class Waiting:
        hash = tokenizer.hash
        reads_words_alone = False

        def titles_laid_flat(self, titles):
            begun.set()
            released.wait()
            return tokenizer.titles_laid_flat(titles)

    with ThreadPoolExecutor() as threads:
        tree = threads.submit(kb.tree, Waiting())
        begun.wait()
        looked_up = threads.submit(lambda: (kb.candidates("Kent"), kb.add(Entity("Ulm")), kb.snapshot().entity("Ulm")))
        try:
            assert looked_up.result(timeout=60)[2] == Entity("Ulm")
            assert not tree.done()
        finally:
            released.set()
    assert len(tree.result().ends()) == len(LINES)


def test_it_is_made_once_and_kept_under_the_hashes_of_kb_and_tokenizer(tmp_path, monkeypatch):
    folder = tiny_folder(tmp_path)
    opened = KnowledgeBase.open(folder)
    first = opened.tree(byte_level_bpe())
    (kept,) = (folder / "trees").iterdir()
    assert kept.name == f"{opened.info.hash[:16]}-{byte_level_bpe().hash}.safetensors"
    monkeypatch.setattr("parlink.kb.title_trees.build_tree", None)
    again = KnowledgeBase.open(folder).tree(byte_level_bpe())
    assert torch.equal(again.name, first.name)
    assert torch.equal(again.child, first.child)


def test_a_folder_that_cannot_be_written_uses_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PARLINK_CACHE", str(tmp_path / "cache"))
    folder = tiny_folder(tmp_path)
    (folder / "trees").write_text("in the way")
    kb = KnowledgeBase.open(folder)
    kb.tree(byte_level_bpe())
    (kept,) = (tmp_path / "cache" / "parlink" / "trees").iterdir()
    assert kept.name == f"{kb.info.hash[:16]}-{byte_level_bpe().hash}.safetensors"


def test_where_nothing_can_be_written_the_tree_stays_in_memory(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("PARLINK_CACHE", str(tmp_path / "file" / "cache"))
    (tmp_path / "file").write_text("in the way")
    folder = tiny_folder(tmp_path)
    (folder / "trees").write_text("in the way")
    with caplog.at_level(logging.WARNING):
        assert len(KnowledgeBase.open(folder).tree(byte_level_bpe()).name) == len(LINES)
    assert "cannot be kept" in caplog.text


def test_the_tree_of_changes_follows_the_changes(tmp_path):
    kb, other = tiny_kb(tmp_path), KnowledgeBase.open(tmp_path / "kb")
    kb.add(Entity("Bremen"))
    assert "Bremen" in titles_in(other.title_tree(byte_level_bpe()))
    kb.remove("Bremen")
    assert "Bremen" not in titles_in(other.title_tree(byte_level_bpe()))


def test_a_saved_tree_comes_back_the_same(tmp_path):
    tree, path = PrefixTree.build([[1, 2], [1], [3, 300, 60_000]]), tmp_path / "tree.safetensors"
    assert save_tree(tree, path)
    loaded = load_tree(path)
    assert loaded.tensors().keys() == tree.tensors().keys()
    assert all(torch.equal(tensor, loaded.tensors()[name]) for name, tensor in tree.tensors().items())
    assert loaded.names(loaded.ends()).value.tolist() == tree.names(tree.ends()).value.tolist()


def test_a_truncated_tree_is_named(tmp_path):
    path = tmp_path / "tree.safetensors"
    save_tree(PrefixTree.build([[1, 2]]), path)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(KnowledgeBaseError, match=r"tree\.safetensors: not a prefix tree"):
        load_tree(path)


def test_a_tree_is_moved_to_a_device_once(tmp_path):
    kb, tokenizer = tiny_kb(tmp_path), byte_level_bpe()
    kb.add(Entity("Bremen"))
    first = kb.title_tree(tokenizer, device="meta")
    assert kb.title_tree(tokenizer, device="meta") is first
    kb.remove("Kent")
    second = kb.title_tree(tokenizer, device="meta")
    assert second is not first and second.tree.tree is first.tree.tree is kb.tree(tokenizer, device="meta")
    assert second.tree.dead.device.type == "meta" and kb.tree(tokenizer).token.device.type == "cpu"
