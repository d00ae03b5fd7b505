from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlink.kb.build.facts import Fact
from parlink.kb.build.spill import Spill

ROWS = st.lists(st.tuples(st.sampled_from(["a", "b", "Ünder", ""]), st.integers(0, 3)))


@given(rows=ROWS, size=st.integers(1, 5))
def test_rows_come_back_sorted_and_summed_however_often_they_were_spilled(rows, size, tmp_path_factory):
    spill = Spill(tmp_path_factory.mktemp("spill"), "rows", max_rows=size)
    spill.update((row, 2) for row in rows)
    wanted = sorted((row, 2 * count) for row, count in Counter(rows).items())
    assert list(spill) == wanted
    assert list(spill) == wanted  # again


@pytest.mark.parametrize("size", [1, 100])
def test_rows_are_of_the_type_that_was_asked_for(tmp_path, size):
    spill: Spill[Fact] = Spill(tmp_path, "facts", make=Fact._make, max_rows=size)
    spill.add(Fact("Kent", "", 0, "0"), 0)
    ((fact, count),) = spill
    assert (fact.title, count) == ("Kent", 0)


def test_closing_leaves_no_file(tmp_path):
    spill = Spill(tmp_path, "rows", max_rows=2)
    for number in range(9):
        spill.add((number,))
    assert list(tmp_path.iterdir())
    spill.close()
    assert not list(tmp_path.iterdir())
    assert list(spill) == []
