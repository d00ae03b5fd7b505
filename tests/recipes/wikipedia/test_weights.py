from __future__ import annotations

from recipes.wikipedia.evidence import Evidence
from recipes.wikipedia.names import NameEvidence, Sign
from recipes.wikipedia.weights import SCALE, scale_popularity, weigh_names


def test_a_link_weighs_more_than_a_table_and_a_redirect_by_fame() -> None:
    names = {
        "text": NameEvidence(text_links=10),
        "table": NameEvidence(table_links=10),
        "redirect": NameEvidence(signs=Sign.REDIRECT),
        "alias": NameEvidence(signs=Sign.ALIAS),
    }
    weights = weigh_names("Title", Evidence(text_links=10), names)
    assert weights["text"] == 96 > weights["redirect"] > weights["table"] > weights["alias"] >= 1


def test_a_common_noun_is_spelled_small() -> None:
    names = {"macron": NameEvidence(text_links=9), "Macron": NameEvidence(text_links=1)}
    assert weigh_names("Macron", Evidence(text_links=10), names)["macron"] > 100
    assert weigh_names("Macron", Evidence(text_links=10), names)["Macron"] == 10


def test_places_are_found_before_the_comma_and_letters_are_respelled() -> None:
    assert "Auburn" in weigh_names("Auburn, New York", Evidence(), {})
    assert "Earth" not in weigh_names("Earth, Wind, 1999", Evidence(), {})
    assert "Zuerich" in weigh_names("Zürich", Evidence(), {})


def test_popularity_gives_made_names_the_same_scale() -> None:
    evidence = Evidence(text_links=100)
    assert abs((scale_popularity(evidence) + 0.5) ** 0.6 / (SCALE * 100.5**0.6) - 1) < 0.07


def test_a_surname_says_more_for_a_person_whom_many_lists_have() -> None:
    famous, unknown = (Evidence(lists=frozenset(map(str, range(lists)))) for lists in (8, 3))
    assert weigh_names("Emmanuel Macron", famous, {}, is_person=True)["Macron"] == 8 * SCALE
    assert "Macron" not in weigh_names("Emmanuel Macron", famous, {})
    assert "Macron" not in weigh_names("Emmanuel Macron", unknown, {}, is_person=True)


def test_a_title_that_hardly_a_link_knows_says_less_for_itself() -> None:
    names = {"Pauli": NameEvidence(text_links=1)}
    doubtful, page = (weigh_names("Pauli", Evidence(text_links=1, kind=kind), names)["Pauli"] for kind in ("", "City"))
    assert SCALE < doubtful < page / 2


def test_a_day_is_no_person() -> None:
    assert weigh_names("Monday", Evidence(text_links=1), {})["Monday"] > 100 * SCALE / 10
