from __future__ import annotations

from recipes.wikipedia.evidence import Mark
from recipes.wikipedia.pool import Pool
from recipes.wikipedia.redirects import follow_redirects
from tiny_data import linked


def test_redirects_merge_evidence_and_a_circle_ends_at_its_strongest() -> None:
    pool = Pool({"A": linked(5), "B": linked(2), "C": linked(9)})
    follow_redirects(pool, table={"B": "A", "A": "B"}, dumps={}, lower={})
    pool.merge_moved("redirects followed")
    assert set(pool.titles) == {"A", "C"} and pool.now("B") == "A" and pool.titles["A"].text_links == 7


def test_redirects_of_old_dumps_and_in_small_letters_leave_pages_alone() -> None:
    pool = Pool(
        {"Actress": linked(kind="Wrestler"), "Actor": linked(9), "Ann": linked(), "Dari": linked(marks=Mark.ID)}
    )
    follow_redirects(pool, table={}, dumps={"Actress": "Actor", "Ann": "Actor"}, lower={"dari": "Actor"})
    pool.merge_moved("redirects followed")
    assert set(pool.titles) == {"Actress", "Actor", "Dari"}
    assert pool.report.counts["redirects followed"] == 1
