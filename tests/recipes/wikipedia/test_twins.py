from __future__ import annotations

import pytest

from recipes.wikipedia.evidence import Evidence, Mark
from recipes.wikipedia.pool import Pool
from recipes.wikipedia.twins import merge_twins
from tiny_data import linked


@pytest.mark.parametrize(
    "title, evidence, other, stronger, now",
    [
        ("Zinc Oxide", linked(), "Zinc oxide", linked(9), "Zinc oxide"),
        ("REXX", linked(), "Rexx", linked(9), "REXX"),
        ("Abuse of power", linked(), "Abuse of Power", linked(9, kind="Song"), "Abuse of power"),
        ("Maximal", linked(), "MaxiMal", linked(9, kind="Band"), "Maximal"),
        ("Jose Ferrer", linked(), "José Ferrer", linked(9), "José Ferrer"),
        ("Coin", linked(), "Coín", linked(9), "Coin"),
        ("Raj", Evidence(), "Ráj", linked(9), "Raj"),
        ("J. D. Vance", linked(), "JD Vance", linked(9), "JD Vance"),
        ("U.S. Senate", linked(), "United States Senate", linked(9), "United States Senate"),
        ("The Green Wave", linked(), "Green Wave", linked(9), "The Green Wave"),
        ("The Bank of New York", linked(), "Bank of New York", linked(9), "Bank of New York"),
        ("The Last Waltz", linked(), "Last Waltz", linked(9), "Last Waltz"),
    ],
)
def test_twins(title: str, evidence: Evidence, other: str, stronger: Evidence, now: str) -> None:
    pool = Pool({title: evidence, other: stronger})
    merge_twins(pool, {"the last waltz": "Last Waltz"}, {})
    assert pool.now(title) == now and pool.now(other) == other


SAYS = "{} is the official currency of South Africa ."


@pytest.mark.parametrize(
    "title, other, kinds, lead, one",
    [
        ("British army", "British Army", ("", "MilitaryUnit"), None, True),
        ("Koala records", "Koala Records", ("RecordLabel", "RecordLabel"), None, True),
        ("Star fm", "Star FM", ("RadioStation", "RadioStation"), None, False),
        ("Koala records", "Koala Records", ("Song", "RecordLabel"), None, False),
        ("Newsday", "NewsDay", ("Newspaper", "Newspaper"), None, False),
        ("Weather report", "Weather Report", ("", "Band"), None, False),
        ("South African rand", "South African Rand", ("", ""), SAYS, True),
        ("South African rand", "South African Rand", ("", ""), "{} is a song .", False),
    ],
)
def test_titles_that_differ_in_case_are_one_if_all_else_says_so(
    title: str, other: str, kinds: tuple[str, str], lead: str | None, one: bool
) -> None:
    is_page = Mark.LEAD if lead else 0
    weaker, stronger = (
        Evidence(kind=kind, count=count, marks=is_page) for kind, count in zip(kinds, (1, 9), strict=True)
    )
    pool = Pool({title: weaker, other: stronger})
    merge_twins(pool, {}, {each: lead.format(each) for each in (title, other)} if lead else {})
    assert (pool.now(title) == other) is one
