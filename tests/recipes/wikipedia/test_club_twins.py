from __future__ import annotations

import pytest

from recipes.wikipedia.club_twins import merge_club_twins
from recipes.wikipedia.evidence import Evidence
from recipes.wikipedia.pool import Pool
from tiny_data import linked


@pytest.mark.parametrize(
    "title, evidence, now",
    [
        ("Sydney Wanderers", linked(), "Sydney Wanderers FC"),
        ("Sydney", linked(), "Sydney"),
        ("New York City", linked(2, kind="City"), "New York City"),
        ("Melbourne Heart", linked(99), "Melbourne Heart"),
    ],
)
def test_club_twins(title: str, evidence: Evidence, now: str) -> None:
    pool = Pool({title: evidence, f"{title} FC": linked(9, kind="SoccerClub")})
    merge_club_twins(pool)
    assert pool.now(title) == now
