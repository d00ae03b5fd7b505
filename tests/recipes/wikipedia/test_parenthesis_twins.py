from __future__ import annotations

import pytest

from recipes.wikipedia.parenthesis_twins import merge_parenthesis_twins
from recipes.wikipedia.pool import Pool
from tiny_data import linked


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


@pytest.mark.parametrize(
    "title, kind, other, other_kind, merged",
    [
        ("Heves (county)", "", "Heves County", "AdministrativeRegion", True),
        ("Po (river)", "Stream", "Po River", "", True),
        ("Gifhorn (district)", "AdministrativeRegion", "Gifhorn district", "", True),
        ("Imst (district)", "City", "Imst District", "AdministrativeRegion", False),
        ("Delta (state)", "Band", "Delta State", "", False),
        ("Broadcast (band)", "Band", "Broadcast Band", "", False),
        ("Santa Fe (Group)", "", "Santa Fe Group", "", False),
    ],
)
def test_places_are_written_either_way(title: str, kind: str, other: str, other_kind: str, merged: bool) -> None:
    pool = Pool({title: linked(kind=kind), other: linked(9, kind=other_kind)})
    merge_parenthesis_twins(pool)
    assert (pool.now(title) == pool.now(other)) is merged


def test_a_magazine_keeps_its_parenthesis() -> None:
    pool = Pool({"Spin (magazine)": linked(), "Spin Magazine": linked(9), "Q (magazine)": linked()})
    pool.titles["Q Magazine"] = linked(kind="Magazine")
    merge_parenthesis_twins(pool)
    assert set(pool.titles) == {"Spin (magazine)", "Q (magazine)", "Q Magazine"}


def test_old_titles_have_words_in_place_of_a_parenthesis() -> None:
    python, snuff = "Python (programming language)", "Snuff (film)"
    pool = Pool({python: linked(2), "Python programming language": linked(32), snuff: linked(), "Snuff film": linked()})
    merge_parenthesis_twins(pool)
    assert set(pool.titles) == {python, snuff, "Snuff film"}
