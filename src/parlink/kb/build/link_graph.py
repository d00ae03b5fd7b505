"""The link graph of a knowledge base on its way into a file: for every title the pages that link to it.

Pages are numbered in the order of their keys (`facts.page_key`), which are hashes. So the first pages of a title are
a random sample of all of them, and the samples of two titles overlap as the whole lists do (bottom-k sampling). The
file is that of `kb.link_graph`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from parlink.kb import arrays
from parlink.kb.build.spill import Spill

_CHUNK = 1 << 20


class LinkGraphWriter:
    """Gathers the pages of titles in bounded memory, at most `limit` a title."""

    def __init__(self, scratch: Path, *, limit: int) -> None:
        self._limit = limit
        self._scratch = scratch
        self._samples: Spill[tuple[str, int]] = Spill(scratch, "samples")  # title, key of a page
        self._pages: Spill[tuple[int]] = Spill(scratch, "pages")  # key of a page; count: titles that it links to

    def add(self, title: str, pages: array[int]) -> None:
        """Take in the keys, ascending, of the pages that link to a title."""
        for key in pages:
            self._pages.add((key,))
        for key in pages[: self._limit]:
            self._samples.add((title, key))

    def write(self, path: Path, titles: Any) -> None:
        """Write the graph; nothing if there is none."""
        keys, sizes = array("Q"), array("Q")
        for (key,), count in self._pages:
            keys.append(key)
            sizes.append(count)
        if not keys or not self._limit:
            return
        numbered: Spill[tuple[int, int]] = Spill(self._scratch, "numbered-links")
        for (title, key), _ in self._samples:
            numbered.add((titles[title], key))
        many = np.zeros(len(titles), np.int64)
        page_numbers = []
        for owners, page_keys in _chunks(iter(numbered)):
            np.add.at(many, owners, 1)
            page_numbers.append(np.searchsorted(np.asarray(keys), page_keys).astype(np.uint32))
        groups = arrays.Groups.of(many)
        columns = {
            "link_start": groups.start,
            "link_many": groups.many,
            "link_page": arrays.unsigned(np.concatenate(page_numbers)),
            "page_links": arrays.unsigned(np.asarray(sizes)),
        }
        arrays.write(path, columns)


def _chunks(rows: Iterator[tuple[tuple[int, int], int]]) -> Iterator[tuple[arrays.Array, arrays.Array]]:
    while chunk := list(islice(rows, _CHUNK)):
        yield (
            np.fromiter((title for (title, _), _ in chunk), np.int64, len(chunk)),
            np.fromiter((key for (_, key), _ in chunk), np.uint64, len(chunk)),
        )
