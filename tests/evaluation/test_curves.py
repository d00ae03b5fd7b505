from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.evaluation.counting import Rules
from parlink.evaluation.curves import confidence_curve, has_probabilities, judge, reliability
from parlink.types import Document, Link, Span

GOLD = Document("Kent won", links=(Link(Span(0, 4), "Kent"),))


def found(*scores: float | None) -> Document:
    links = [Link(Span(i, i + 4), "Kent", confidence=score) for i, score in enumerate(scores)]
    return Document("Kent won", links=tuple(links))


def test_the_curve_drops_the_less_probable_links() -> None:
    curve = confidence_curve([GOLD], [found(0.9, 0.4)], Rules())
    assert (curve[0].threshold, curve[-1].threshold) == (0.0, 1.0)
    by_threshold = {point.threshold: point.scores for point in curve}
    assert by_threshold[0.4].precision == 0.5 and by_threshold[0.42].precision == 1.0
    assert by_threshold[0.9].f1 == 1.0 and by_threshold[0.92].f1 == 0.0


def test_probabilities_are_wanted_of_every_link() -> None:
    assert has_probabilities([found(0.0, 1.0)], Rules())
    assert not has_probabilities([found(0.5, None)], Rules())
    assert not has_probabilities([found(3.5)], Rules())
    assert not has_probabilities([Document("x")], Rules())


def test_judgments() -> None:
    assert judge([GOLD], [found(0.9, 0.4)], Rules()) == [(0.9, True), (0.4, False)]


def test_reliability_by_hand() -> None:
    result = reliability([(0.95, True), (1.0, True), (0.05, False), (0.15, True)])
    assert [(b.confidence, b.accuracy, b.links) for b in result.bins] == [
        (0.05, 0.0, 1),
        (0.15, 1.0, 1),
        (pytest.approx(0.975), 1.0, 2),
    ]
    assert result.error == pytest.approx((0.05 + 0.85 + 2 * 0.025) / 4)
    assert reliability([]).error == 0.0


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans())))
def test_bins_hold_every_judgment(judgments: list[tuple[float, bool]]) -> None:
    result = reliability(judgments)
    assert sum(b.links for b in result.bins) == len(judgments) == result.links
    assert 0 <= result.error <= 1
    assert sum(b.accuracy * b.links for b in result.bins) == pytest.approx(sum(right for _, right in judgments))
