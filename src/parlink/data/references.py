"""Character references such as `&amp;` and `&#39;`, as texts and titles hold them."""

from __future__ import annotations

import html
import re

_LONG = re.compile(r"&#(?:[0-9]{8,}+|[xX][0-9a-fA-F]{7,}+);?+")  # of no character
_COMPLETE = re.compile(r"&(?:#[0-9]++|#[xX][0-9a-fA-F]++|[a-zA-Z][a-zA-Z0-9]*+);")
_MOST_TIMES = 3  # that a title is escaped


def unescape(text: str) -> str:
    """Return a text with its HTML entities as characters; a number that is no character's is U+FFFD."""
    if "&" not in text:
        return text
    return html.unescape(_LONG.sub("\ufffd", text))


def unescape_title(title: str) -> str:
    """Return a title, or another name, without references, however often it was escaped.

    No title of a wiki may hold one. What lacks its semicolon is none: "R&Amp".

    >>> unescape_title("1985&amp;ndash;86 in English football")
    '1985–86 in English football'
    """
    for _ in range(_MOST_TIMES):
        before = title
        title = _COMPLETE.sub(lambda match: unescape(match[0]), before) if "&" in before else before
        if title == before:
            break
    return title
