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
        ("Odd Down", linked(), "Odd Down"),
        ("New York City", linked(), "New York City"),
        ("Dynamo", linked(kind="Band"), "Dynamo"),
    ],
)
def test_club_twins(title: str, evidence: Evidence, now: str) -> None:
    leads = dict.fromkeys(["Sydney Wanderers", "Dynamo"], "It is an Australian soccer club .")
    pool = Pool({title: evidence, f"{title} FC": linked(9, kind="SoccerClub")})
    merge_club_twins(pool, leads | {"New York City": "It is a city ."})
    assert pool.now(title) == now
