"""What stands around a span: mentions that it is part of, or that are part of it, and capitals of the words beside it.

"John Wayne" in "John Wayne Airport" is a name that the knowledge base knows, and not what the text speaks of. The
capitals of the words beside a span say so too, where nobody proposes the whole; and the capital with which a sentence
begins says little.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from parlink.types import Span

_BEFORE = re.compile(r"(\w[\w.'’&-]*) ?$")  # the word that ends where a span begins, but for a space
_AFTER = re.compile(r" ?(\w+)")
_BEGINNING = re.compile(r"(?:^|[.!?:\n\"“”(])\s*$")
_REACH = 40  # characters that are looked at to either side


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What speaks for another span in place of one, or against any."""

    longer: float = 0.0  # the highest probability of a mention that the span is part of
    shorter: float = 0.0  # of one that is part of the span
    capital_before: bool = False  # the word before it begins with a capital, and only a space is between
    capital_after: bool = False
    begins: bool = False  # a sentence, a line or a quotation may begin with it


NOTHING_AROUND = Surroundings()


def survey(text: str, spans: Sequence[Span], probabilities: Sequence[float | None]) -> list[Surroundings]:
    """Look around each span of a text that may be a mention, with the probability that each is one."""
    longer, shorter = [0.0] * len(spans), [0.0] * len(spans)
    ongoing: list[int] = []  # spans that end behind the start of the next
    for at in sorted(range(len(spans)), key=lambda at: (spans[at].start, -spans[at].end)):
        span = spans[at]
        ongoing = [other for other in ongoing if spans[other].end > span.start]
        for other in ongoing:
            if spans[other].end >= span.end and spans[other] != span:
                longer[at] = max(longer[at], probabilities[other] or 0.0)
                shorter[other] = max(shorter[other], probabilities[at] or 0.0)
        ongoing.append(at)
    return [_look_beside(text, span, *highest) for span, *highest in zip(spans, longer, shorter, strict=True)]


def _look_beside(text: str, span: Span, longer: float, shorter: float) -> Surroundings:
    head, tail = text[max(0, span.start - _REACH) : span.start], text[span.end : span.end + _REACH]
    before, after = _BEFORE.search(head), _AFTER.match(tail)
    return Surroundings(
        longer,
        shorter,
        capital_before=before is not None and before[1][0].isupper(),
        capital_after=after is not None and after[1][0].isupper(),
        begins=_BEGINNING.search(head) is not None,
    )
