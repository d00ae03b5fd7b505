"""The tokens of the titles that were asked for last, within a bound in bytes, however long titles are."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable

TitleTokens = tuple[int, ...]
MAX_BYTES = 16 << 20
_LARGEST_SHARE = 64  # one title may take so small a part of the whole, so that it does not push out the others
_ENTRY_BYTES = 200  # what an entry costs beside its title and tokens
_TOKEN_BYTES = 32  # of an integer


class TitleCache:
    """Calls `encode` for titles that it does not remember; may be used from several threads."""

    def __init__(self, encode: Callable[[str], TitleTokens], *, max_bytes: int = MAX_BYTES) -> None:
        self._encode, self._max_bytes = encode, max_bytes
        self._titles: OrderedDict[str, TitleTokens] = OrderedDict()
        self._lock = threading.Lock()
        self.bytes = 0

    def __call__(self, title: str) -> TitleTokens:
        """The tokens of a title."""
        with self._lock:
            tokens = self._titles.get(title)
            if tokens is not None:
                self._titles.move_to_end(title)
                return tokens
        tokens = self._encode(title)
        if _size(title, tokens) * _LARGEST_SHARE <= self._max_bytes:
            self._remember(title, tokens)
        return tokens

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
