from __future__ import annotations

import pytest

from recipes.wikipedia.evidence import Evidence
from recipes.wikipedia.leave_out import leave_out
from recipes.wikipedia.pool import Pool
from tiny_data import linked


@pytest.mark.parametrize(
    "title, evidence, stays",
    [
        ("!!!", Evidence(kind="Band"), True),
        ("---", Evidence(count=1), False),
        ("Template", linked(), False),
        ("Alabama State Route 55", Evidence(kind="RouteOfTransportation"), True),
        ("Ford Sierra 5", Evidence(kind="AutomobileEngine"), False),
        ("Book:Africa", linked(), False),
        ("1999", linked(), False),
        ("Kent (disambiguation)", linked(), False),
        ("Compound", linked(), False),
        ('"3.5"^^xsd:double', Evidence(lists=frozenset(["webnlg"])), False),
        ('"AFC Ajax NV"@en', Evidence(count=1, lists=frozenset(["webnlg"])), False),
        ('"June 1981"', Evidence(lists=frozenset(["webnlg"])), False),
        ('"Heroes"', Evidence(kind="Song", lists=frozenset(["webnlg"])), True),
        ('"Dr. Death" Steve Williams', Evidence(lists=frozenset(["webnlg"])), True),
        ("Glen", Evidence(lists=frozenset(["kamel"])), False),
        ("Glen (film)", linked(), True),
        ("Auburn", Evidence(lists=frozenset(["kamel"])), False),
        ("Auburn", Evidence(lists=frozenset(["kamel", "t2kmatch"])), True),
    ],
)
def test_what_is_left_out(title: str, evidence: Evidence, stays: bool) -> None:
    pool = Pool({title: evidence, "Glen (actor)": linked(), "Auburn, New York": linked(kind="City")})
    leave_out(pool, disambiguations={"Compound"})
    assert (title in pool.titles) is stays


def test_uses_of_a_label_are_not_those_of_the_bare_title() -> None:
    glen, ulm = (Evidence(text_links=3, count=9, lists=frozenset(["kamel"])) for _ in range(2))
    leave_out(Pool({"Glen": glen, "Glen (actor)": linked(), "Ulm": ulm}), disambiguations=())
    assert (glen.count, ulm.count) == (0, 9)
