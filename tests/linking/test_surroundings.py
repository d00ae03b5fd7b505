"""What stands around a span."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlink.linking.surroundings import survey
from parlink.types import Span

SPANS = st.tuples(st.integers(0, 15), st.integers(1, 6)).map(lambda at: Span(at[0], at[0] + at[1]))


@given(st.lists(st.tuples(SPANS, st.none() | st.floats(0, 1)), unique_by=lambda each: each[0]))
def test_the_surest_longer_and_shorter_spans_are_those_of_a_plain_loop(
    proposed: list[tuple[Span, float | None]],
) -> None:
    def highest(span: Span, *, within: bool) -> float:
        pairs = [(other, span) if within else (span, other) for other, _ in proposed]
        held = [a.start <= b.start and b.end <= a.end and a != b for a, b in pairs]
        return max((p or 0.0 for (_, p), holds in zip(proposed, held, strict=True) if holds), default=0.0)

    surveyed = survey("a" * 25, [span for span, _ in proposed], [probability for _, probability in proposed])
    for (span, _), around in zip(proposed, surveyed, strict=True):
        assert around.longer == highest(span, within=True)
        assert around.shorter == highest(span, within=False)


@pytest.mark.parametrize(
    ("text", "before", "after", "begins"),
    [
        ("the [Kent] team", False, False, False),
        ("Royal [Kent] County", True, True, False),
        ("Mr. [Kent]'s dog", True, False, True),
        ("Royal, [Kent], County", False, False, False),
        ("[Kent]", False, False, True),
        ("He left. [Kent] won", False, False, True),
        ('He said "[Kent] won"', False, False, True),
        ("\n[Kent]\nHe", False, False, True),
        ("É[Kent]", True, False, False),
    ],
)
def test_capitals_beside_a_span_and_beginnings_are_seen(text: str, before: bool, after: bool, begins: bool) -> None:
    start, end = text.index("["), text.index("]") - 1
    [around] = survey(text.replace("[", "").replace("]", ""), [Span(start, end)], [0.5])
    assert (around.capital_before, around.capital_after, around.begins) == (before, after, begins)
