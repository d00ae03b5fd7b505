from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.evaluation import resampling
from parlink.evaluation.metrics import Counts, averages, scores, total
from parlink.evaluation.resampling import compare, intervals

COUNTS = st.builds(Counts, *[st.integers(0, 5)] * 3)


@settings(deadline=None)
@given(st.lists(COUNTS, min_size=1, max_size=8))
def test_rows_are_scored_as_metrics_does(by_document: list[Counts]) -> None:
    table = resampling._scores(resampling._table(by_document))
    assert table == pytest.approx(np.array([(s.precision, s.recall, s.f1) for s in map(scores, by_document)]))


@settings(deadline=None)
@given(st.lists(COUNTS, min_size=1, max_size=5))
def test_equal_documents_have_no_uncertainty(by_document: list[Counts]) -> None:
    found = intervals([by_document[0]] * 7, resamples=20)
    f1 = scores(by_document[0]).f1
    assert (found.f1.low, found.f1.high, found.macro_f1.low) == pytest.approx((f1, f1, f1))


def test_an_interval_holds_the_score_and_narrows_with_more_documents() -> None:
    few = [Counts(4, 1, 2), Counts(1, 3, 0), Counts(5, 0, 0), Counts(0, 1, 3)] * 3
    narrow, wide = intervals(few * 16), intervals(few)
    value = averages(few)
    assert wide.f1.low < value.micro.f1 < wide.f1.high and wide.macro_f1.low < value.macro.f1 < wide.macro_f1.high
    assert wide.precision.low < value.micro.precision < wide.precision.high
    assert (narrow.f1.high - narrow.f1.low) == pytest.approx((wide.f1.high - wide.f1.low) / 4, rel=0.2)
    assert intervals(few) == wide  # the same every time


def test_an_interval_covers_95_percent() -> None:
    documents = [Counts(1, 0, 0), Counts(0, 1, 1)] * 200  # half of the links are right: a mean of 400 coins
    interval = intervals(documents, resamples=4000).precision
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * 0.5 / 400**0.5, rel=0.06)  # 90 %: 16 % less
    difference = compare(documents, [Counts(0, 1, 1)] * 400).interval
    assert difference.high - difference.low == pytest.approx(2 * 1.96 * 0.5 / 400**0.5, rel=0.06)


def test_blocks_do_not_change_the_size_of_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "_BLOCK", 7)
    rows = [len(block) for block in resampling._in_blocks(resampling._redraw, 3, 9, 0)]
    assert rows == [2, 2, 2, 2, 1]


def test_no_documents_at_all() -> None:
    assert intervals([]).f1 == resampling.Interval(1.0, 1.0)


def test_two_equal_systems_do_not_differ() -> None:
    same = [Counts(3, 1, 1)] * 10
    found = compare(same, same, resamples=200)
    assert (found.difference, found.p_value, found.interval.low) == (0.0, 1.0, 0.0)


def test_a_clear_difference_is_seen_and_turned_round_by_swapping() -> None:
    better, worse = [Counts(9, 1, 1), Counts(8, 1, 2)] * 20, [Counts(6, 4, 4), Counts(7, 3, 3)] * 20
    found, turned = compare(better, worse), compare(worse, better)
    assert found.difference == pytest.approx(scores(total(better)).f1 - scores(total(worse)).f1)
    assert found.p_value < 0.001 and 0 < found.interval.low < found.difference < found.interval.high
    assert turned.difference == -found.difference and turned.p_value == found.p_value


def test_the_p_value_is_that_of_all_swaps() -> None:
    first, other = (
        [Counts(3, 0, 1), Counts(2, 2, 2), Counts(4, 1, 0)],
        [Counts(2, 1, 2), Counts(2, 1, 2), Counts(4, 1, 0)],
    )
    observed = abs(scores(total(first)).f1 - scores(total(other)).f1)
    extreme = 0
    for swaps in range(8):
        rows = [(b, a) if swaps >> i & 1 else (a, b) for i, (a, b) in enumerate(zip(first, other, strict=True))]
        difference = scores(total([a for a, _ in rows])).f1 - scores(total([b for _, b in rows])).f1
        extreme += abs(difference) >= observed - 1e-12
    assert compare(first, other).p_value == pytest.approx(extreme / 8, abs=0.02)
