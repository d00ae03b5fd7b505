"""The tokens of the titles that were asked for last, within a bound in bytes, however long titles are."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

TitleTokens = tuple[int, ...]
MAX_BYTES = 16 << 20
_LARGEST_SHARE = 64  # one title may take so small a part of the whole, so that it does not push out the others
_ENTRY_BYTES = 200  # what an entry costs beside its title and tokens
_TOKEN_BYTES = 32  # of an integer


class TitleCache:
    """Calls `encode` for the titles that it does not remember, all at once; may be used from several threads."""

    def __init__(self, encode: Callable[[Sequence[str]], Sequence[TitleTokens]], *, max_bytes: int = MAX_BYTES) -> None:
        self._encode, self._max_bytes = encode, max_bytes
        self._titles: OrderedDict[str, TitleTokens] = OrderedDict()
        self._lock = threading.Lock()
        self.bytes = 0

    def __call__(self, titles: Sequence[str]) -> list[TitleTokens]:
        """The tokens of each title."""
        known: dict[str, TitleTokens] = {}
        with self._lock:
            for title in set(titles) & self._titles.keys():
                self._titles.move_to_end(title)
                known[title] = self._titles[title]
        new = [title for title in dict.fromkeys(titles) if title not in known]
        for title, tokens in zip(new, self._encode(new) if new else (), strict=True):
            known[title] = tokens
            if _size(title, tokens) * _LARGEST_SHARE <= self._max_bytes:
                self._remember(title, tokens)
        return [known[title] for title in titles]

    def _remember(self, title: str, tokens: TitleTokens) -> None:
        with self._lock:
            if title in self._titles:  # another thread was quicker
                return
            self._titles[title] = tokens
            self.bytes += _size(title, tokens)
            while self.bytes > self._max_bytes:
                self.bytes -= _size(*self._titles.popitem(last=False))


def _size(title: str, tokens: TitleTokens) -> int:
    return _ENTRY_BYTES + sys.getsizeof(title) + sys.getsizeof(tokens) + _TOKEN_BYTES * len(tokens)
