from __future__ import annotations

import doctest

import pytest

from recipes.wikipedia.evidence import Evidence
from recipes.wikipedia.kinds import descriptions, head_types, noun_phrases, title_types
from recipes.wikipedia.kinds.decide import Kind, decide


@pytest.mark.parametrize("module", [descriptions, head_types, noun_phrases, title_types])
def test_examples_of_docstrings(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted and not result.failed


@pytest.mark.parametrize(
    "title, evidence, lead, facts, wanted",
    [
        ("Oslo", Evidence(), "Oslo is the capital of Norway .", None, Kind("place", "capital of Norway")),
        ("Kent (band)", Evidence(kind="Band"), None, None, Kind("organization", "band")),
        ("War and Peace", Evidence(), None, ("Book", "author=Leo Tolstoy"), Kind("work", "book by Leo Tolstoy")),
        ("Yale", Evidence(kind="Building"), "Yale was a judge .", None, Kind("person", "judge")),
        ("Ann Lee", Evidence(lists=frozenset(["sronen_people"])), None, None, Kind("person", None)),
        ("Sam Lee, Jr.", Evidence(), None, None, Kind("person", None)),
        ("Spotify", Evidence(lists=frozenset(["sronen_people"])), None, None, Kind(None, None)),
        ("UN", Evidence(kind="Country"), "It is an organization .", None, Kind("organization", None)),
        (
            "Sur",
            Evidence(),
            "Sur is a city in Lebanon and it is one of three .",
            None,
            Kind("place", "city in Lebanon"),
        ),
        ("Xyzzy", Evidence(), "Xyzzy is an album by and with them .", None, Kind("work", "album")),
        ("Port (town)", Evidence(), None, ("City", "type=Town of"), Kind("place", "town")),
        (
            "Welsh",
            Evidence(),
            None,
            ("SoccerClub", "league=Division Two"),
            Kind("organization", "football club in the Division Two"),
        ),
        ("Xyzzy", Evidence(), "It is a line of smartphones .", None, Kind("product", "line of smartphones")),
        (
            "Xyzzy",
            Evidence(),
            "It is a blogging and mail service .",
            None,
            Kind("organization", "blogging and mail service"),
        ),
        ("Auburn, New York", Evidence(), None, None, Kind("place", "place in New York")),
        ("Xyzzy", Evidence(), "Xyzzy is a frobnicator .", None, Kind("other", "frobnicator")),
        ("Xyzzy", Evidence(), None, None, Kind(None, None)),
    ],
)
def test_type_and_description(
    title: str, evidence: Evidence, lead: str | None, facts: tuple[str, str] | None, wanted: Kind
) -> None:
    assert decide(title, evidence, lead=lead, facts=facts) == wanted
