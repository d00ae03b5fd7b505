"""What else is proposed around a span: a longer mention that it is part of, or shorter ones within it.

"John Wayne" in "John Wayne Airport" is a name that the knowledge base knows, and not what the text speaks of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parlink.types import Span


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What speaks for another span in place of one."""

    longer: float = 0.0  # the highest probability of a mention that the span is part of
    shorter: float = 0.0  # of one that is part of the span


NOTHING_AROUND = Surroundings()


def survey(spans: Sequence[Span], probabilities: Sequence[float | None]) -> list[Surroundings]:
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
    return [Surroundings(*highest) for highest in zip(longer, shorter, strict=True)]
