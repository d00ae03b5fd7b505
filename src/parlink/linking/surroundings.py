"""What else of a document speaks for or against a span: longer and shorter mentions, and the same words elsewhere.

"John Wayne" in "John Wayne Airport" is a name that the knowledge base knows, and not what the text speaks of; and what
is surely a name in one sentence hardly is none in the next.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from parlink.types import Span

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What speaks for another span in place of one, and for this one."""

    longer: float = 0.0  # the highest probability of a mention that the span is part of
    shorter: float = 0.0  # of one that is part of the span
    elsewhere: float = 0.0  # of one in another place, with the same words or this word among others


NOTHING_AROUND = Surroundings()


def survey(text: str, spans: Sequence[Span], probabilities: Sequence[float | None]) -> list[Surroundings]:
    """Look around each span of a document that may be a mention, with the probability that each is one."""
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
    elsewhere = _look_elsewhere(text, spans, probabilities)
    return [Surroundings(*highest) for highest in zip(longer, shorter, elsewhere, strict=True)]


def _look_elsewhere(text: str, spans: Sequence[Span], probabilities: Sequence[float | None]) -> list[float]:
    surfaces = [text[span.start : span.end] for span in spans]
    listed: dict[str, list[int]] = defaultdict(list)  # by what a mention is, and by each of its words; the surest first
    for at in sorted(range(len(spans)), key=lambda at: -(probabilities[at] or 0.0)):
        for name in {surfaces[at], *_WORD.findall(surfaces[at])}:
            listed[name].append(at)
    return [
        next((probabilities[other] or 0.0 for other in listed[surface] if not spans[other].overlaps(span)), 0.0)
        for span, surface in zip(spans, surfaces, strict=True)
    ]
