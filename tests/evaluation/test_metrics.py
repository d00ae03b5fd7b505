from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.evaluation.metrics import Averages, Counts, Scores, averages, scores, total

COUNTS = st.builds(Counts, *[st.integers(0, 5)] * 3)


def test_by_hand() -> None:
    assert scores(Counts(3, 1, 2)) == Scores(0.75, 0.6, pytest.approx(2 / 3))
    assert scores(Counts(0, 0, 0)) == Scores(1.0, 1.0, 1.0)
    assert scores(Counts(0, 2, 0)) == scores(Counts(0, 0, 2)) == Scores(0.0, 0.0, 0.0)


def test_macro_is_the_mean_of_documents_and_an_empty_one_counts_one() -> None:
    found = averages([Counts(1, 1, 0), Counts(0, 0, 0), Counts(0, 3, 1)])
    assert found.macro == Scores(precision=0.5, recall=pytest.approx(2 / 3), f1=pytest.approx(5 / 9))
    assert found.micro == Scores(0.2, 0.5, pytest.approx(2 / 7))
    assert averages([]) == Averages(Scores(1.0, 1.0, 1.0), Scores(1.0, 1.0, 1.0))


@settings(deadline=None)
@given(st.lists(COUNTS, min_size=1, max_size=6))
def test_scores_stay_between_0_and_1_and_f1_between_its_parts(by_document: list[Counts]) -> None:
    found = averages(by_document)
    assert total(by_document).tp == sum(counts.tp for counts in by_document)
    for one in [found.micro, *map(scores, by_document)]:
        assert min(one.precision, one.recall) - 1e-9 <= one.f1 <= max(one.precision, one.recall) + 1e-9
    assert all(0 <= value <= 1 + 1e-12 for value in (found.macro.precision, found.macro.recall, found.macro.f1))
