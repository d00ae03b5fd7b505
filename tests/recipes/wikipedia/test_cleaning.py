from __future__ import annotations

import pytest

from recipes.wikipedia.collect import NameRow, Tables
from recipes.wikipedia.elsewhere import merge_elsewhere
from recipes.wikipedia.evidence import Evidence, Mark
from recipes.wikipedia.leave_out import leave_out
from recipes.wikipedia.parenthesis_twins import merge_parenthesis_twins
from recipes.wikipedia.pool import Pool
from recipes.wikipedia.rank import choose
from recipes.wikipedia.redirects import follow_redirects
from recipes.wikipedia.spelling import spell
from recipes.wikipedia.texts import Texts
from recipes.wikipedia.twins import merge_twins


def pool_of(**titles: Evidence) -> Pool:
    return Pool({title.replace("_", " "): evidence for title, evidence in titles.items()})


def linked(text_links: int = 1, *, kind: str = "", marks: int = 0) -> Evidence:
    return Evidence(text_links=text_links, kind=kind, marks=marks)


def tables_of(*names: NameRow) -> Tables:
    return Tables(list(names), {}, {}, [], {}, frozenset(), {})


def test_spelling_is_composed_single_spaced_and_capital() -> None:
    assert spell("zu\u0308rich  airport") == "Zürich airport"
    assert spell("ßtraße") == "ßtraße"  # no single capital


def test_redirects_merge_evidence_and_a_circle_ends_at_its_strongest() -> None:
    pool = pool_of(A=linked(5), B=linked(2), C=linked(9))
    follow_redirects(pool, table={"B": "A", "A": "B"}, dumps={}, lower={})
    assert set(pool.titles) == {"A", "C"} and pool.now("B") == "A" and pool.titles["A"].text_links == 7


def test_redirects_of_old_dumps_and_in_small_letters_leave_pages_alone() -> None:
    pool = pool_of(Actress=linked(kind="Wrestler"), Actor=linked(9), Ann=linked(), Dari=linked(marks=Mark.ID))
    follow_redirects(pool, table={}, dumps={"Actress": "Actor", "Ann": "Actor"}, lower={"dari": "Actor"})
    assert set(pool.titles) == {"Actress", "Actor", "Dari"}
    assert pool.report.counts["redirects followed"] == 1


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
        ("Glen", Evidence(lists=frozenset(["kamel"])), False),
        ("Glen (film)", linked(), True),
    ],
)
def test_what_is_left_out(title: str, evidence: Evidence, stays: bool) -> None:
    pool = Pool({title: evidence, "Glen (actor)": linked()})
    leave_out(pool, disambiguations={"Compound"})
    assert (title in pool.titles) is stays


def test_a_title_whose_spelling_links_elsewhere_is_merged_from_five_links_on() -> None:
    court = "International Court of Justice"
    for links, now in ((4, "ICJ"), (5, court)):
        pool = Pool({"ICJ": linked(2), court: linked(20, kind="Legislature")})
        texts = Texts()
        texts.links.update({("ICJ", court): links, ("ICJ", "ICJ"): 2})
        merge_elsewhere(pool, texts, tables_of())
        assert pool.now("ICJ") == now


def test_a_bare_name_is_left_out_and_not_merged() -> None:
    pool = Pool({"Sitka": linked(), "Sitka, Alaska": linked(20, kind="City")})
    merge_elsewhere(pool, Texts(), tables_of(NameRow("Sitka", "Sitka, Alaska", 90, "prior")))
    assert "Sitka" not in pool.titles and pool.now("Sitka") is None


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
        ("The Green Wave", linked(), "Green Wave", linked(9), "The Green Wave"),
        ("The Bank of New York", linked(), "Bank of New York", linked(9), "Bank of New York"),
        ("The Last Waltz", linked(), "Last Waltz", linked(9), "Last Waltz"),
    ],
)
def test_twins(title: str, evidence: Evidence, other: str, stronger: Evidence, now: str) -> None:
    pool = Pool({title: evidence, other: stronger})
    merge_twins(pool, {"the last waltz": "Last Waltz"})
    assert pool.now(title) == now and pool.now(other) == other


@pytest.mark.parametrize(
    "title, other, merged",
    [
        ("Christian Democratic Union (Germany)", "Christian Democratic Union of Germany", True),
        ("Council of Ministers (Soviet Union)", "Council of Ministers of the Soviet Union", True),
        ("Route 10 (Massachusetts)", "Massachusetts Route 10", True),
        ("Township (Canada)", "Canada Township", False),
        ("Amazon (company)", "Amazon.com", True),
        ("Java (island)", "Java", True),
        ("Java (coffee)", "Java", False),
    ],
)
def test_twins_with_a_parenthesis(title: str, other: str, merged: bool) -> None:
    pool = Pool({title: linked(), other: linked(9, kind="Island")})
    merge_parenthesis_twins(pool)
    assert (pool.now(title) == other) is merged


def test_common_nouns_without_links_rank_above_what_only_lists_know() -> None:
    pool = pool_of(Listed=Evidence(), Seen=Evidence(seen=50), Alias_rich=Evidence(redirects=9), Linked=linked())
    assert choose(pool, 3) == {"Linked", "Seen", "Alias rich"}
    assert choose(pool, None) == set(pool.titles)
