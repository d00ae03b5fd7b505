"""Which titles go into a knowledge base of a given size: the best known ones."""

from __future__ import annotations

from math import log10

from recipes.wikipedia.evidence import Evidence, Mark
from recipes.wikipedia.pool import Pool

_OURS = 10.0  # more than makes a title one of those that are kept
_CLASS_TABLES = frozenset(["t2kmatch"])


def choose(pool: Pool, size: int | None) -> set[str]:
    """Return the `size` titles that rank highest; of equals those of fewer words, which texts name more. None: all."""
    if size is None or size >= len(pool.titles):
        return set(pool.titles)
    ranks = {title: rank(evidence) for title, evidence in pool.titles.items()}
    return set(sorted(ranks, key=lambda title: (-ranks[title], title.count(" "), title))[:size])


def rank(evidence: Evidence) -> float:
    """Return how much a title is wanted: how well known it is, and small signs that order those nobody links to.

    Without them half of the titles would be equal: those that only DBpedia's class tables list.
    """
    return (
        evidence.popularity
        + _OURS * bool(evidence.marks & Mark.OURS)
        + 0.5 * bool(evidence.marks & Mark.AIDA)
        + 0.3 * bool(evidence.marks & Mark.CANDIDATE)
        + 0.3 * bool(evidence.lists - _CLASS_TABLES)
        + 0.5 * ("dwie" in evidence.lists)  # what news may mean
        + 0.05 * bool(evidence.marks & Mark.NAMED)
        + 0.5 * log10(1 + evidence.seen)
        + 0.3 * log10(1 + evidence.redirects)
    )
