"""Prefix trees of a knowledge base's titles, made for a tokenizer at first use and kept on disk."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError

from parlink.cache import user_cache
from parlink.kb.tables import Tables
from parlink.nn.prefix_tree import PrefixTree
from parlink.text.tokenizer import Tokenizer

_log = logging.getLogger(__name__)
_BATCH = 1 << 16  # titles that are tokenized at once


@dataclass(frozen=True, slots=True)
class TitleTree:
    """A prefix tree, and what the numbers at its leaves stand for."""

    tree: PrefixTree
    title: Callable[[int], str]
    removed: NDArray[np.bool_] | None = None  # (names,) names that may not come back; None: all may


def base_tree(tables: Tables, tokenizer: Tokenizer) -> PrefixTree:
    """Open the tree of the tables' titles, or make it and keep it in the KB folder, else in the user's cache folder."""
    name = f"{tables.info.hash[:16]}-{tokenizer.hash}.safetensors"  # the folder may be replaced by another build
    places = (tables.folder / "trees" / name, user_cache() / "trees" / name)
    for place in places:
        if place.is_file():
            return PrefixTree.load(place)
    tree = build_tree(tables, tokenizer)
    for place in places:
        if _saved(tree, place):
            return PrefixTree.load(place)
    _log.warning("%s: the prefix tree cannot be kept there nor in %s", tables.folder, user_cache())
    return tree


def build_tree(tables: Tables, tokenizer: Tokenizer) -> PrefixTree:
    """Make the tree; titles that share a leaf are listed by count, the largest first."""
    order = np.argsort(-tables.title_count.astype(np.int64), kind="stable")
    lengths: list[NDArray[np.int64]] = []
    tokens: list[NDArray[np.int64]] = []
    for first in range(0, len(order), _BATCH):
        sequences = tokenizer.titles([tables.title(number) for number in order[first : first + _BATCH].tolist()])
        lengths.append(np.fromiter(map(len, sequences), np.int64, len(sequences)))
        tokens.append(np.concatenate(sequences))
    tree = PrefixTree.from_flat(_joined(tokens), _joined(lengths))
    numbers = torch.from_numpy(order.astype(np.int32))
    return replace(tree, name=numbers[tree.name.long()])


@lru_cache(maxsize=1)  # it is asked for with every batch
def small_tree(titles: tuple[str, ...], tokenizer: Tokenizer) -> TitleTree:
    """Make the tree of a few titles."""
    return TitleTree(PrefixTree.build(tokenizer.titles(titles)), titles.__getitem__)


def mask(removed: Sequence[int], names: int) -> NDArray[np.bool_] | None:
    """Mark the names that may not come back; None if all may."""
    if not removed:
        return None
    marks = np.zeros(names, np.bool_)
    marks[removed] = True
    return marks


def _saved(tree: PrefixTree, place: Path) -> bool:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".tree-", dir=place.parent) as folder:
            tree.save(Path(folder) / place.name)
            (Path(folder) / place.name).replace(place)
    except (OSError, SafetensorError) as error:
        _log.info("%s: cannot be written (%s)", place, error)
        return False
    return True


def _joined(pieces: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate(pieces) if pieces else np.empty(0, np.int64)
