"""The tokens of very many titles, by their words: a word that many titles have is tokenized once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from parlink.text.tokenizer import IntArray, Tokenizer

_END = "\0"  # of a word, which no title holds


class _Numbers(dict[str, int]):
    """Numbers of words, given as they come."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class TitleWords:
    """Tokenizes titles as `Tokenizer.titles_laid_flat` does, faster the more it has seen.

    For tokenizers that read words alone, which others may not be asked for. A word has the space before it.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        assert tokenizer.reads_words_alone, "tokens may depend on the words around"
        self._tokenizer, self._numbers = tokenizer, _Numbers()
        self._flat, self._length = np.empty(0, np.int64), np.empty(0, np.int64)  # tokens of the words, and how many

    def __call__(self, titles: Sequence[str]) -> tuple[IntArray, IntArray]:
        """Return all tokens end to end, and how many each title has; no title may hold a NUL."""
        if not titles:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        words = _END.join(titles).replace(" ", f"{_END} ").split(_END)
        number = np.fromiter(map(self._numbers.__getitem__, words), np.int64, len(words))
        self._take_in_new()
        last = np.cumsum(np.fromiter((title.count(" ") + 1 for title in titles), np.int64, len(titles)))
        length = self._length[number]
        begin = (np.cumsum(self._length) - self._length)[number]
        end = np.cumsum(length)
        flat = self._flat[np.repeat(begin - (end - length), length) + np.arange(end[-1])]
        return flat, np.diff(end[last - 1], prepend=0)

    def _take_in_new(self) -> None:
        new = list(islice(reversed(self._numbers), len(self._numbers) - len(self._length)))[::-1]
        flat, length = self._tokenizer.titles_laid_flat(new)
        self._flat, self._length = np.append(self._flat, flat), np.append(self._length, length)
