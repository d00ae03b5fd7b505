"""What may be wrong with a knowledge base that is whole: twins, redirects that are entities, and what is missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from parlink.kb import surfaces
from parlink.kb.names import REDIRECT, form
from parlink.kb.view import MAX_CANDIDATES, View

EXAMPLES = 200
Progress = Callable[[int, int], None]

CASE, ACCENTS, PUNCTUATION, ARTICLE = "case", "accents", "punctuation", "a leading The"
TWINS = {kind: f"titles that differ only in {kind}" for kind in (CASE, ACCENTS, PUNCTUATION, ARTICLE)}
REDIRECTS = "redirects that are entities"
LOST = "titles that their own name does not find"
CROWDED = f"titles that are not among the {MAX_CANDIDATES} candidates of their own name"
UNDESCRIBED, UNTYPED, WITHOUT_ID = "titles without a description", "titles without a type", "titles without an id"
ALL = (*TWINS.values(), REDIRECTS, LOST, CROWDED, UNDESCRIBED, UNTYPED, WITHOUT_ID)


@dataclass
class Finding:
    """One kind of fault: how often there is one, and the first of them."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, example: str) -> None:
        """Count one."""
        self.count += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(example)


def check(view: View, *, progress: Progress = lambda done, whole: None) -> dict[str, Finding]:
    """Look at every title; some ten microseconds each. Kinds of faults that there are none of have the count 0."""
    findings = {
        what: Finding() for what in (*TWINS.values(), REDIRECTS, LOST, CROWDED, UNDESCRIBED, UNTYPED, WITHOUT_ID)
    }
    hashes = np.zeros(len(view), np.uint64)
    for place, entity in enumerate(view.entities()):
        key = surfaces.key(entity.title)
        hashes[place] = _hash(key)
        _check_names(view, entity.title, key, findings)
        for what, value in ((UNDESCRIBED, entity.description), (UNTYPED, entity.type), (WITHOUT_ID, entity.id)):
            if value is None:
                findings[what].add(entity.title)
        progress(place + 1, len(view))
    for pair, kind in _find_twins(view, hashes):
        findings[TWINS[kind]].add(" / ".join(pair))
    return findings


def _check_names(view: View, title: str, key: str, findings: dict[str, Finding]) -> None:
    number, names = view.number(title), view.names(key)
    for redirect in np.flatnonzero((names.kind == REDIRECT) & (names.form == form(title)) & (names.title != number)):
        findings[REDIRECTS].add(f"{title} (leads to {view.title(int(names.title[redirect]))})")
    if number not in names.title:
        findings[LOST].add(title)
    elif len(np.unique(names.title)) > MAX_CANDIDATES and title not in _candidates(view, title):
        findings[CROWDED].add(title)


def _candidates(view: View, surface: str) -> set[str]:
    return {candidate.title for candidate in view.candidates(surface)}


def _find_twins(view: View, hashes: NDArray[np.uint64]) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield pairs of titles of one key, and what they differ in; only titles whose hash is not alone are compared."""
    distinct, times = np.unique(hashes, return_counts=True)
    shared = np.isin(hashes, distinct[times > 1])
    groups: dict[str, list[str]] = defaultdict(list)
    for title, is_shared in zip(view.titles(), shared.tolist(), strict=True):
        if is_shared:
            groups[surfaces.key(title)].append(title)
    for titles in groups.values():
        first, *others = sorted(titles)
        for other in others:
            yield (first, other), _difference(first, other)


def _difference(title: str, other: str) -> str:
    """Say what tells two titles of one key apart."""
    if title.casefold() == other.casefold():
        return CASE
    if surfaces.fold(title) == surfaces.fold(other):
        return ACCENTS
    without = (surfaces.fold(each).removeprefix("the ") for each in (title, other))
    return ARTICLE if len(set(without)) == 1 else PUNCTUATION


def _hash(key: str) -> int:
    return int.from_bytes(blake2b(key.encode(errors="replace"), digest_size=8).digest())
