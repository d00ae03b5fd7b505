from __future__ import annotations

from collections import Counter

from recipes.wikipedia.acronym_twins import merge_acronyms
from recipes.wikipedia.alike_twins import merge_alike
from recipes.wikipedia.collect import Tables
from recipes.wikipedia.country_twins import merge_country_twins
from recipes.wikipedia.evidence import Mark
from recipes.wikipedia.pool import Pool
from recipes.wikipedia.texts import Texts
from tiny_data import linked


def test_an_acronym_is_the_popular_title_of_its_initials() -> None:
    pool = Pool({"FDA": linked(18), "Food and Drug Administration": linked(33), "ABC": linked(2), "Axe": linked(50)})
    links = {("FDA", "Food and Drug Administration"): 6, ("FDA", "Axe"): 2, ("ABC", "Axe"): 9}
    merge_acronyms(pool, Texts(links=Counter(links)), Tables([], {}, {}, [], {}, frozenset(), {}))
    assert set(pool.titles) == {"Food and Drug Administration", "ABC", "Axe"}


def test_titles_spelled_alike_are_one_if_a_redirect_says_so() -> None:
    pool = Pool(
        {
            title: linked()
            for title in ("Nezami Ganjavi", "Anne", "Edward IV", "AK-103", "White Blood Cells", "Diplomacy")
        }
        | {
            title: linked(9)
            for title in ("Nizami Ganjavi", "Anna", "Edward IV of England", "AK-104", "White blood cell", "Diplomat")
        }
    )
    redirects = {
        "nezami ganjavi": "Nizami Ganjavi",
        "edward iv": "Edward IV of England",
        "ak-103": "AK-104",
        "white blood cells": "White blood cell",
        "diplomacy": "Diplomat",
    }
    merge_alike(pool, redirects)
    assert set(pool.moved) == {"Nezami Ganjavi", "Edward IV"}


def test_a_country_may_stand_before_or_in_parenthesis() -> None:
    pages = [
        "Internal Revenue Service",
        "II Corps (United States)",
        "U.S. Route 7",
        "Inner West",
        "Black Hills",
        "Iowa",
    ]
    weak = ["US Internal Revenue Service", "U.S. II Corps", "U.S. Highway 7", "Inner West (Sydney)"]
    weak += ["Black Hills (Ohio)", "Iowa (U.S. state)"]
    pool = Pool({page: linked(9, marks=Mark.LEAD) for page in pages} | {title: linked() for title in weak})
    leads = {
        "Internal Revenue Service": "The Internal Revenue Service is a service of the United States .",
        "Inner West": "The Inner West is a part of Sydney , Australia .",
        "Black Hills": "The Black Hills are mountains in South Dakota .",
        "Iowa": "Iowa is a state of the United States .",
    }
    merge_country_twins(pool, leads)
    assert set(pool.titles) == {*pages, "Black Hills (Ohio)"}
