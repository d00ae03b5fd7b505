from __future__ import annotations

from recipes.wikipedia.spelling import drop_state, spell


def test_spelling_is_composed_single_spaced_and_capital() -> None:
    assert spell("zu\u0308rich  airport") == "Zürich airport"
    assert spell("ßtraße") == "ßtraße"  # no single capital


def test_spelling_has_no_character_references() -> None:
    assert spell("1985&amp;ndash;86 in English football") == "1985–86 in English football"
    assert spell("BBC Radio&amp;nbsp;2") == "BBC Radio 2"
    assert spell("AT&T") == "AT&T"


def test_what_follows_a_comma_may_be_no_place() -> None:
    titles = ("Auburn, New York", "Max Factor, Jr.", "Earth, Wind, 1999", "Auburn")
    assert [drop_state(title) for title in titles] == ["Auburn", None, None, None]
