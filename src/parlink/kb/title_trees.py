"""Prefix trees of a knowledge base's titles, made for a tokenizer at first use and kept on disk."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from parlink.bars import share_bar
from parlink.cache import user_cache
from parlink.errors import KnowledgeBaseError
from parlink.kb.tables import Tables
from parlink.kb.view import View
from parlink.nn.edited_tree import EditedTree, edit
from parlink.nn.prefix_tree import PrefixTree
from parlink.text.title_words import TitleWords
from parlink.text.tokenizer import Tokenizer

_log = logging.getLogger(__name__)
_BATCH = 1 << 16  # titles that are tokenized at once


@dataclass(frozen=True, slots=True)
class TitleTree:
    """A prefix tree, and what the numbers at its leaves stand for."""

    tree: PrefixTree | EditedTree
    title: Callable[[int], str]


def base_tree(tables: Tables, tokenizer: Tokenizer) -> PrefixTree:
    """Open the tree of the tables' titles, or make it and keep it in the KB folder, else in the user's cache folder."""
    name = f"{tables.info.hash[:16]}-{tokenizer.hash}.safetensors"  # the folder may be replaced by another build
    places = (tables.folder / "trees" / name, user_cache() / "trees" / name)
    for place in places:
        if place.is_file():
            return load_tree(place)
    tree = build_tree(tables, tokenizer)
    for place in places:
        if save_tree(tree, place):
            return load_tree(place)
    _log.warning("%s: the prefix tree cannot be kept there nor in %s", tables.folder, user_cache())
    return tree


def build_tree(tables: Tables, tokenizer: Tokenizer) -> PrefixTree:
    """Make the tree; titles that share a leaf are listed by count, the largest first."""
    numbers, flat, lengths = _read_titles(tables, tokenizer)
    tree = PrefixTree.from_flat(flat, lengths)
    name = _list_by_count(numbers[tree.name.numpy()], tree, tables)
    return replace(tree, name=torch.from_numpy(name.astype(np.int32)))


def _read_titles(
    tables: Tables, tokenizer: Tokenizer
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of all titles in the order of the trie, their tokens end to end, and how many each has."""
    numbers, tokens, lengths = [], [], []
    tokenize = TitleWords(tokenizer) if tokenizer.reads_words_alone else tokenizer.titles_laid_flat
    titles = tables.titles.iteritems()
    with share_bar(f"reading {len(tables):,} titles, which is done once") as progress:
        for first in range(0, len(tables), _BATCH):
            batch = dict(islice(titles, _BATCH))
            flat, length = tokenize(list(batch))
            numbers.append(np.fromiter(batch.values(), np.int64, len(batch)))
            tokens.append(flat)
            lengths.append(length)
            progress((first + len(batch)) / len(tables))
    return _join(numbers), _join(tokens), _join(lengths)


def _list_by_count(name: NDArray[np.int64], tree: PrefixTree, tables: Tables) -> NDArray[np.int64]:
    """Put the titles that share a leaf of a tree in order; few do."""
    many = np.diff(tree.end_name.numpy())
    shared = np.flatnonzero(np.repeat(many > 1, many))
    leaf, title = np.repeat(np.arange(len(many)), many)[shared], name[shared]
    listed = name.copy()
    listed[shared] = title[np.lexsort((title, -tables.title_counts(title), leaf))]
    return listed


@lru_cache(maxsize=1)  # it is asked for with every batch
def small_tree(titles: tuple[str, ...], tokenizer: Tokenizer, *, device: str = "cpu") -> TitleTree:
    """Make the tree of a few titles."""
    return TitleTree(PrefixTree.build(tokenizer.titles(titles)).to(device), titles.__getitem__)


def edit_titles(base: PrefixTree, view: View, tokenizer: Tokenizer, *, copy: PrefixTree) -> TitleTree:
    """Put the titles of a view in the place of those of its tables, whose tree `base` is; `copy` is where it goes."""
    tables, gone, new = view.tables, view.gone(), view.new_titles()
    if not gone and not new:
        return TitleTree(copy, tables.title)
    edited = edit(
        base,
        removed=tokenizer.titles([tables.title(number) for number in gone]),
        removed_names=gone,
        added=tokenizer.titles(new),
    )
    return TitleTree(
        edited.over(copy), lambda number: tables.title(number) if number < len(tables) else new[number - len(tables)]
    )


def load_tree(path: Path) -> PrefixTree:
    """Open a tree that was saved, memory-mapped."""
    try:
        with safe_open(path, "pt") as file:
            return PrefixTree(**{field: file.get_tensor(field) for field in PrefixTree.__slots__})
    except (OSError, SafetensorError) as error:
        raise KnowledgeBaseError(f"{path}: not a prefix tree ({error}); delete it and it is made again") from error


def save_tree(tree: PrefixTree, path: Path) -> bool:
    """Write a tree to a file that is open to whoever may open its folder; False if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".tree-", dir=path.parent) as folder:
            temporary = Path(folder) / path.name
            save_file({name: tensor.contiguous() for name, tensor in tree.tensors().items()}, temporary)
            temporary.chmod(path.parent.stat().st_mode & 0o666)
            temporary.replace(path)
    except (OSError, SafetensorError) as error:
        _log.info("%s: cannot be written (%s)", path, error)
        return False
    return True


def _join(pieces: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate(pieces) if pieces else np.empty(0, np.int64)
