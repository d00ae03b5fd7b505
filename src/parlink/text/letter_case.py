"""How words are capitalized: what a tokenizer that writes everything in small letters forgets."""

from __future__ import annotations

import re

import numpy as np

from parlink.text.tokenizer import IntArray

CASES = 4  # no capital; the first letter alone; all letters, of several; any other way
_WORD = re.compile(r"[^\W_]+")


def letter_cases(text: str, starts: IntArray) -> IntArray:
    """Say of each token how the word that it begins in is capitalized, (tokens,), as numbered in `CASES`.

    >>> letter_cases("The US and iPhones", np.array([0, 4, 7, 11])).tolist()
    [1, 2, 0, 3]
    """
    of_character = np.zeros(len(text) + 1, np.int64)
    for word in _WORD.finditer(text):
        if case := _case(word[0]):
            of_character[word.start() : word.end()] = case
    return of_character[starts]


def _case(word: str) -> int:
    if word.islower() or not any(map(str.isupper, word)):
        return 0
    if len(word) > 1 and word.isupper():
        return 2
    return 1 if word[0].isupper() and not any(map(str.isupper, word[1:])) else 3
