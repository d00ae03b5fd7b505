"""The link graph of a knowledge base, memory-mapped: for every title the pages that link to it.

links.safetensors
    link_start   (titles / 16,) where the pages begin of every sixteenth title
    link_many    (titles,)      how many pages a title has
    link_page    (links,)       numbers of pages, ascending; of a title with many pages a sample
    page_links   (pages,)       to how many titles of the knowledge base a page links

The samples are the first pages in an order that all titles share (bottom-k), so that those of two titles overlap as
the whole lists do.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parlink.errors import KnowledgeBaseError
from parlink.kb import arrays

LINKS_FILE = "links.safetensors"


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """Pages have numbers of their own; titles those of the tables."""

    path: Path
    groups: arrays.Groups  # a title each
    page: arrays.Array  # (links,)
    page_links: arrays.Array  # (pages,)

    @classmethod
    def open(cls, path: Path, titles: int) -> LinkGraph:
        """Map the graph of so many titles; raises ValueError or KeyError if the file is not one."""
        columns = arrays.open_mapped(path)
        groups = arrays.Groups(columns["link_start"], columns["link_many"])
        graph = cls(path, groups, columns["link_page"], columns["page_links"])
        if len(groups) != titles or (titles and groups.range(titles - 1)[1] != len(graph.page)):
            raise ValueError(f"{path.name} is not the graph of {titles:,} titles")
        return graph

    def pages(self, number: int) -> NDArray[np.int64]:
        """Return the numbers of the pages that link to a title, ascending."""
        first, last = self.groups.range(number)
        pages = self.page[first:last].astype(np.int64)
        if not first <= last <= len(self.page) or pages.max(initial=0) >= max(len(self.page_links), 1):
            raise self._damaged()
        return pages

    def pages_of(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many pages link to each of some titles, and their numbers, title by title as `pages` does."""
        first, last = self.groups.ranges(numbers)
        many = last - first
        if ((first < 0) | (last > len(self.page))).any():
            raise self._damaged()
        place = np.repeat(first - (np.cumsum(many) - many), many) + np.arange(many.sum())
        pages = self.page[place].astype(np.int64)
        if pages.max(initial=0) >= max(len(self.page_links), 1):
            raise self._damaged()
        return many, pages

    def _damaged(self) -> KnowledgeBaseError:
        return KnowledgeBaseError(f"{self.path}: damaged (numbers point outside); build the knowledge base again")

    def page_weights(self, pages: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how much each page says about what it links to: less, the more titles those are (Adamic and Adar)."""
        weights: NDArray[np.float64] = 1 / np.log1p(np.maximum(self.page_links[pages].astype(np.float64), 1))
        return weights
