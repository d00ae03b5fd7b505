from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlink.kb.build.facts import Fact
from parlink.kb.build.spill import Spill, merge_spills

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


def test_many_files_are_merged_into_few(tmp_path, monkeypatch):
    monkeypatch.setattr("parlink.kb.build.spill.MAX_FILES", 3)
    spill = Spill(tmp_path, "rows", max_rows=2)
    for number in range(200):
        spill.add((number % 50,))
    assert len(list(tmp_path.iterdir())) <= 10
    assert list(spill) == [((number,), 4) for number in range(50)]


def test_what_was_flushed_is_found_again(tmp_path):
    spill = Spill(tmp_path, "rows", max_rows=3)
    spill.update([(("b",), 1), (("a",), 2)])
    spill.flush()
    Spill(tmp_path, "rows-too").add(("c",))
    assert list(Spill(tmp_path, "rows")) == [(("a",), 2), (("b",), 1)]


def test_several_are_read_as_one(tmp_path):
    spills = [Spill(tmp_path, name, max_rows=size) for name, size in (("x", 1), ("y", 9))]
    for spill in spills:
        spill.update([(("a",), 1), (("b",), 2)])
    assert list(merge_spills(spills)) == [(("a",), 2), (("b",), 4)]
