from __future__ import annotations

import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.errors import ParlinkError
from parlink.kb.build.facts import Fact
from parlink.kb.build.spill import Spill, merge_spills, row_bytes

ROWS = st.lists(st.tuples(st.sampled_from(["a", "b", "Ünder", "", "a b", "A"]), st.integers(0, 3)))

ROW = row_bytes(("a",))


@settings(max_examples=30)  # DuckDB is opened for each
@given(rows=ROWS, size=st.integers(1, 5))
def test_rows_come_back_sorted_and_summed_however_often_they_were_spilled(rows, size, tmp_path_factory):
    spill = Spill(tmp_path_factory.mktemp("spill"), "rows", max_bytes=size * ROW)
    spill.update((row, 2) for row in rows)
    wanted = sorted((row, 2 * count) for row, count in Counter(rows).items())
    assert list(spill) == wanted
    assert list(spill) == wanted  # again


@pytest.mark.parametrize("size", [1, 100])
def test_rows_are_of_the_type_that_was_asked_for(tmp_path, size):
    spill: Spill[Fact] = Spill(tmp_path, "facts", make=Fact._make, max_bytes=size * ROW)
    spill.add(Fact("Kent", "", 0, "0"), 0)
    ((fact, count),) = spill
    assert (fact.title, count) == ("Kent", 0)


def test_the_largest_number_and_any_text_survive(tmp_path):
    rows = [
        (text, number) for text in ("", "'", '"', "a\nb", "\x00", "NULL", "\U0010ffff") for number in (0, 2**64 - 1)
    ]
    spill = Spill(tmp_path, "rows", max_bytes=4 * ROW)
    spill.update((row, 2**40) for row in rows)
    assert list(spill) == [(row, 2**40) for row in sorted(rows)]


def test_few_rows_need_no_duckdb_and_many_say_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    spill = Spill(tmp_path, "rows", max_bytes=3 * ROW)
    spill.update([(("b",), 1), (("a",), 2)])
    spill.flush()
    assert list(Spill(tmp_path, "rows", max_bytes=3 * ROW)) == [(("a",), 2), (("b",), 1)]
    with pytest.raises(ParlinkError, match=r"install parlink\[build\]"):
        spill.update([(("c",), 1), (("d",), 1), (("e",), 1)])


def test_what_a_merge_left_is_not_counted_again(tmp_path):
    spill = Spill(tmp_path, "rows", max_bytes=2 * ROW)
    spill.update([(("a",), 1), (("b",), 1), (("c",), 1)])
    spill.flush()
    wanted = [(("a",), 1), (("b",), 1), (("c",), 1)]
    assert list(spill) == wanted
    assert list(Spill(tmp_path, "rows", max_bytes=2 * ROW)) == wanted


def test_rows_may_come_after_a_merge(tmp_path):
    spill = Spill(tmp_path, "rows", max_bytes=2 * ROW)
    spill.update([(("a",), 1), (("b",), 1), (("c",), 1)])
    assert len(list(spill)) == 3
    spill.flush()
    spill.add(("c",))
    assert list(spill) == [(("a",), 1), (("b",), 1), (("c",), 2)]


def test_what_was_flushed_is_found_again(tmp_path):
    spill = Spill(tmp_path, "rows", max_bytes=3 * ROW)
    spill.update([(("b",), 1), (("a",), 2)])
    spill.flush()
    Spill(tmp_path, "rows-too").add(("c",))
    assert list(Spill(tmp_path, "rows")) == [(("a",), 2), (("b",), 1)]


def test_long_rows_leave_memory_sooner(tmp_path):
    for name, text, pieces in (("short", "", 0), ("long", "x" * 1000, 4)):
        spill = Spill(tmp_path, name, max_bytes=2000)
        spill.update([((f"{number}{text}",), 1) for number in range(9)])
        assert len(list(tmp_path.glob(f"{name}.*.parquet"))) == pieces
        assert [row[0][0] for row, _ in spill] == list("012345678")


def test_several_are_read_as_one(tmp_path):
    spills = [Spill(tmp_path, name, max_bytes=size * ROW) for name, size in (("x", 1), ("y", 9))]
    for spill in spills:
        spill.update([(("a",), 1), (("b",), 2)])
    assert list(merge_spills(spills)) == [(("a",), 2), (("b",), 4)]
