"""How much work a request is: not how long it is, but what has to be computed for it.

The unit is what one character of plain text costs the encoder. A mention costs about twenty of them, each candidate of
it two, and each beam of a search over all titles sixteen (measured on the packaged model and one core; the ratios move
by a factor of two between machines, which is near enough to refuse what is a hundred times too much). How many mentions
a text has is known only once it is read: one in forty characters, and one in twelve at a threshold far below the tuned
one. Letters of words come some four to a token; anything else, and each byte of other scripts, marks and emoji, may be
a token of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from parlink.config import LinkOptions, Tuned
from parlink.types import Document

MENTION, CANDIDATE, BEAM, SEARCH = 20, 2, 4, 16
CHARACTERS_A_MENTION, CHARACTERS_A_START = 40, 12
CHARACTERS_A_TOKEN = 4  # of plain text
FAR_BELOW = 5.0  # log-odds under the tuned threshold where most words become mentions
_PLAIN = re.compile(r"[A-Za-z0-9\s]+")


def estimate_work(docs: Sequence[Document], options: LinkOptions, tuned: Tuned) -> int:
    """Estimate what it costs to link documents."""
    each = _estimate_mention(options, tuned)
    return sum(_estimate_text(doc.text) + each * _estimate_mentions(doc, options, tuned) for doc in docs)


def _estimate_text(text: str) -> int:
    """The cost of reading a text: that of its characters, or of as many tokens as it may have."""
    odd = len(_PLAIN.sub("", text).encode("utf-8", "surrogatepass"))
    return 1 + len(text) + (CHARACTERS_A_TOKEN - 1) * odd


def _estimate_mention(options: LinkOptions, tuned: Tuned) -> int:
    """The cost of one mention: half of the candidates that it may have, or a search where it has none."""
    each = BEAM * options.beams if options.search == "beam" else CANDIDATE * options.max_candidates // 2
    return MENTION + each + (SEARCH * options.beams if searches_titles(options, tuned) else 0)


def _estimate_mentions(doc: Document, options: LinkOptions, tuned: Tuned) -> int:
    if doc.spans is not None:
        return len(doc.spans)
    threshold = tuned.mention_threshold if options.mention_threshold is None else options.mention_threshold
    low = threshold < tuned.mention_threshold - FAR_BELOW
    return 1 + len(doc.text) // (CHARACTERS_A_START if low else CHARACTERS_A_MENTION)


def searches_titles(options: LinkOptions, tuned: Tuned) -> bool:
    """Whether mentions without candidates are searched for among all titles."""
    return tuned.fallback if options.fallback is None else options.fallback
