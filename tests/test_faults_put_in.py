"""The faults of `tests/slow/faults_put_in.py` can still be put in: each of its lines is in the source once."""

from __future__ import annotations

from slow.faults_put_in import check_lines


def test_every_line_that_a_fault_replaces_is_in_the_source_once():
    check_lines()
