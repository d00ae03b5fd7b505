"""Windows of tokens that overlap, and the way between tokens and characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from parlink.errors import ConfigError
from parlink.text.tokenizer import IntArray, Tokenizer, Tokens
from parlink.types import Span

UNREADABLE = frozenset(["Cc", "Cf", "Zs", "Zl", "Zp"])  # categories of control, format and white space
_STRAY_MARKS = re.compile(r"(?:\s+(?:[!?…#@:;,/|~*_=<>&+-]+|\.{2,}))+\Z")


@dataclass(frozen=True, slots=True)
class Window:
    """A run of tokens between two special tokens, and the part of it that this window judges."""

    ids: IntArray  # (length,) with special tokens at both ends
    offset: int  # the document's token i is ids[i - offset + 1], as far as it is in the window's own run of tokens
    own_first: int  # index in Tokens: first token owned
    own_last: int  # index in Tokens: one past the last token owned
    case: IntArray | None = None  # (length,) how words are capitalized, as `text.letter_case` numbers it, if it is read


def windows(
    tokens: Tokens,
    *,
    tokenizer: Tokenizer,
    max_tokens: int,
    overlap: int,
    prefix: int = 0,
    case: IntArray | None = None,  # (tokens,)
) -> list[Window]:
    """Cut tokens into windows of at most `max_tokens`, two special tokens included; no tokens, no windows.

    Neighbors share exactly `overlap` tokens, and the last window may be shorter. The border of what two
    neighbors own is the middle of what they share, so a mention of up to half the overlap lies wholly in
    the window that owns its first token. Every token is owned once.

    The document's first `prefix` tokens stand at the head of every window, in the later ones before their own run of
    tokens and owned by none of them: what a document begins with is in sight everywhere, always at the same place.
    """
    body = max_tokens - 2
    if not 0 <= overlap < body - prefix:
        most = f"max_tokens - 2 - {prefix} = {body - prefix}" if prefix else f"max_tokens - 2 = {body}"
        raise ConfigError(f"overlap must be at least 0 and less than {most}, got {overlap}")
    count = len(tokens.ids)
    if not count:
        return []
    offsets, end = [0], body
    while end < count:
        offsets.append(end - overlap)
        end += body - prefix - overlap
    borders = [0, *(offset + overlap // 2 for offset in offsets[1:]), count]
    cut = []
    for offset, own_first, own_last in zip(offsets, borders[:-1], borders[1:], strict=True):
        head = prefix if offset else 0
        run = slice(offset, offset + body - head)
        ids = np.concatenate(([tokenizer.bos_id], tokens.ids[:head], tokens.ids[run], [tokenizer.eos_id]))
        cases = None if case is None else np.concatenate(([0], case[:head], case[run], [0]))
        cut.append(Window(ids, offset - head, own_first, own_last, cases))
    return cut


def token_range(tokens: Tokens, span: Span) -> tuple[int, int] | None:
    """Find the first and last token (inclusive) of a span; None when it is off token boundaries.

    The range is the widest: of several tokens that share a character all are in it. Whitespace has no tokens.
    """
    first = int(np.searchsorted(tokens.start, span.start, side="left"))
    last = int(np.searchsorted(tokens.end, span.end, side="right")) - 1
    while first <= last and tokens.start[first] == tokens.end[first]:
        first += 1
    while first <= last and tokens.start[last] == tokens.end[last]:
        last -= 1
    if first > last or tokens.start[first] != span.start or tokens.end[last] != span.end:
        return None
    return first, last


def char_span(tokens: Tokens, first: int, last: int) -> Span:
    """Give the characters of the tokens from `first` to `last`, inclusive, without whitespace around them.

    Tokens that are all whitespace give one character of it, as a span cannot be empty.
    """
    visible = first + np.flatnonzero(tokens.start[first : last + 1] < tokens.end[first : last + 1])
    if not len(visible):
        return Span(int(tokens.start[first]), int(tokens.start[first]) + 1)
    return Span(int(tokens.start[visible[0]]), int(tokens.end[visible[-1]]))


def mention_span(text: str, tokens: Tokens, first: int, last: int) -> Span | None:
    """Give the characters of a mention from token `first` to `last`, inclusive, with the marks on its last letter.

    None where there is nothing to read: only white space, control and format characters.
    """
    visible = first + np.flatnonzero(tokens.start[first : last + 1] < tokens.end[first : last + 1])
    if not len(visible):
        return None
    span = Span(int(tokens.start[visible[0]]), int(tokens.marked_end[visible[-1]]))
    surface = text[span.start : span.end]
    return span if any(unicodedata.category(character) not in UNREADABLE for character in surface) else None


def before_stray_marks(text: str, span: Span) -> Span:
    """A span without the marks at its end that stand behind white space, as in "Dallas !": they are of no name."""
    marks = None if text[span.end - 1].isalnum() else _STRAY_MARKS.search(text, span.start, span.end)
    return span if marks is None or marks.start() == span.start else Span(span.start, marks.start())


def covering_range(tokens: Tokens, span: Span) -> tuple[int, int] | None:
    """Find the first and last token (inclusive) that share a character with a span; None when there is none."""
    (first,), (last,) = covering_ranges(tokens, [span])
    return (int(first), int(last)) if first <= last else None


def covering_ranges(tokens: Tokens, spans: Sequence[Span]) -> tuple[IntArray, IntArray]:
    """Find the same for many spans at once, (spans,) each; the last comes before the first where there is none."""
    visible = np.flatnonzero(tokens.start < tokens.end)
    if not len(visible):
        return np.zeros(len(spans), np.int64), np.full(len(spans), -1)
    bounds = np.array([(span.start, span.end) for span in spans], np.int64).reshape(-1, 2)
    first = np.searchsorted(tokens.end[visible], bounds[:, 0], side="right")
    last = np.searchsorted(tokens.start[visible], bounds[:, 1], side="left") - 1
    touches = first <= last
    return visible[np.where(touches, first, 0)], np.where(touches, visible[last], -1)


def by_length(lengths: Sequence[int], *, batch_tokens: int) -> Iterator[list[int]]:
    """Group indices into batches of similar length, longest first, at most `batch_tokens` padded tokens each.

    A window longer than that is a batch of its own.
    """
    group: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if group and (len(group) + 1) * lengths[group[0]] > batch_tokens:
            yield group
            group = []
        group.append(index)
    if group:
        yield group
