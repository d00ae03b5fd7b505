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


def test_old_titles_have_words_in_place_of_a_parenthesis() -> None:
    python, snuff = "Python (programming language)", "Snuff (film)"
    pool = Pool({python: linked(2), "Python programming language": linked(32), snuff: linked(), "Snuff film": linked()})
    merge_parenthesis_twins(pool)
    assert set(pool.titles) == {python, snuff, "Snuff film"}
