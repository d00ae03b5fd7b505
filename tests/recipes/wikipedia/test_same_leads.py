from __future__ import annotations

from recipes.wikipedia.evidence import Evidence
from recipes.wikipedia.pool import Pool
from recipes.wikipedia.same_leads import merge_same_leads
from tiny_data import linked

LEAGUE = "The National Football League ( NFL ) is a league of American football ."


def test_titles_that_one_lead_names_are_one() -> None:
    pool = Pool({"NFL": linked(), "National Football League": linked(9), "Bert Bell": linked()})
    merge_same_leads(pool, dict.fromkeys(["NFL", "National Football League", "Bert Bell"], LEAGUE))
    assert pool.now("NFL") == "National Football League" and pool.now("Bert Bell") == "Bert Bell"


def test_what_follows_a_comma_need_not_be_named() -> None:
    pool = Pool({"Fort Wayne, IN": linked(), "Fort Wayne, Indiana": linked(9)})
    merge_same_leads(pool, dict.fromkeys(pool.titles, "Fort Wayne is a city in the U.S. state of Indiana ."))
    assert set(pool.titles) == {"Fort Wayne, Indiana"}


def test_titles_of_two_classes_and_items_of_a_list_are_left_alone() -> None:
    pool = Pool({"Vitamin C": Evidence(kind="Drug"), "Ascorbic acid": Evidence(kind="ChemicalCompound")})
    merge_same_leads(pool, dict.fromkeys(pool.titles, "Vitamin C , also called ascorbic acid , is a vitamin ."))
    assert len(pool.titles) == 2
    routes = Pool({f"Route {number}": linked() for number in range(7)})
    merge_same_leads(routes, dict.fromkeys(routes.titles, "Route 0 1 2 3 4 5 6"))
    assert len(routes.titles) == 7
