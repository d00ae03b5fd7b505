"""Surface forms and how alike they are: the steps by which the text of a mention finds a name.

Every name of a knowledge base hangs on the `key` of its surface, so one look-up finds all spellings, and
`step` says afterwards how far a spelling is from the text. Two titles may also be found by less than
their whole: "Kent (band)" by "Kent", and "Alan Shearer" by "Shearer".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

# From the closest to the farthest; `priors` says how much each weighs.
STEPS = ("exact", "folded", "stripped", "title", "part")
EXACT, FOLDED, STRIPPED, TITLE, PART = range(len(STEPS))

_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŧ": "t"}
    | dict.fromkeys("‘’ʼ`´", "'")
)
_ARTICLE = re.compile(r"the\s+(?=\S)")
_POSSESSIVE = re.compile(r"\s*'s?$")
_PARENTHESIS = re.compile(r"(?<=\S)\s*\([^()]*\)$")
_PARTICLES = frozenset(["al", "bin", "da", "de", "del", "der", "di", "du", "el", "ibn", "la", "le", "van", "von", "y"])
_LONGEST_CACHED = 100  # characters
_LONGEST_WHOLE = 4  # words of a name that is also found by its last ones


def fold(surface: str) -> str:
    """Fold case, diacritics and white space."""
    return _fold_short(surface) if len(surface) <= _LONGEST_CACHED else _fold(surface)


def _fold(surface: str) -> str:
    plain = unicodedata.normalize("NFKD", surface).casefold()
    letters = unicodedata.normalize("NFKD", plain).translate(_LETTERS)  # again: case folding may compose
    if not letters.isascii():
        letters = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return " ".join(letters.split())


def key(surface: str) -> str:
    """Fold, and strip the article, the possessive and all that is neither letter nor digit (unless all is)."""
    return _short_key(surface) if len(surface) <= _LONGEST_CACHED else _key(surface)


def _key(surface: str) -> str:
    plain = fold(surface)
    name = _ARTICLE.sub("", _POSSESSIVE.sub("", plain), count=1) if " " in plain or "'" in plain else plain
    return name if name.isalnum() else "".join(filter(str.isalnum, name)) or plain


# Remembered in some 20 MB at most, since what is remembered is short.
_fold_short = lru_cache(maxsize=1 << 14)(_fold)
_short_key = lru_cache(maxsize=1 << 14)(_key)


def step(surface: str, name: str) -> int:
    """Return the first step by which `surface` finds `name`, given that they have the same key."""
    if surface == name:
        return EXACT
    return FOLDED if fold(surface) == fold(name) else STRIPPED


def drop_parenthesis(title: str) -> str | None:
    """Return a title without the parenthesis that ends it, or None if there is none."""
    short = _PARENTHESIS.sub("", title)
    return short if short != title else None


def parts(title: str) -> Iterator[str]:
    """Yield the last word, and the last two, of a name of two to four words that begin with capitals."""
    words = (drop_parenthesis(title) or title).split()
    if 2 <= len(words) <= _LONGEST_WHOLE and all(map(_is_name_word, words)):
        yield words[-1]
        if len(words) > 2:
            yield " ".join(words[-2:])


def _is_name_word(word: str) -> bool:
    return word in _PARTICLES or (word[0].isupper() and not word.endswith(",") and not any(map(str.isdigit, word)))
