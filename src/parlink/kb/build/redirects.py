"""Former and other titles: which title they stand for now, when sources of different years disagree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

import marisa_trie

from parlink.data.titles import follow

MAX_RANK = 1 << 32
Claim = tuple[str, int, str]  # a title, `MAX_RANK` minus the rank of the source that says it, and where it leads


class Redirects(Mapping[str, str]):
    """Title to title, one step each; `resolve` follows them to the end."""

    def __init__(self, claims: Iterable[tuple[Claim, int]]) -> None:
        # For each title the source with the highest rank decides; a title that leads to itself is a page.
        self._steps = marisa_trie.BytesTrie(_decide(claims))

    def __getitem__(self, title: str) -> str:
        return str(self._steps[title][0].decode())

    def __contains__(self, title: object) -> bool:
        return title in self._steps

    def __iter__(self) -> Iterator[str]:
        return iter(self._steps.iterkeys())

    def __len__(self) -> int:
        return len(self._steps)

    def resolve(self, title: str) -> str:
        """Return the title of now."""
        return follow(title, self) if title in self else title


def _decide(claims: Iterable[tuple[Claim, int]]) -> Iterator[tuple[str, bytes]]:
    for old, group in groupby(claims, key=lambda counted: counted[0][0]):
        (_, _, new), _ = next(group)
        if new != old:
            yield old, new.encode()
