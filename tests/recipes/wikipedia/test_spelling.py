from __future__ import annotations

from recipes.wikipedia.spelling import drop_state, spell


def test_spelling_is_composed_single_spaced_and_capital() -> None:
    assert spell("zu\u0308rich  airport") == "Zürich airport"
    assert spell("ßtraße") == "ßtraße"  # no single capital


def test_what_follows_a_comma_may_be_no_place() -> None:
    titles = ("Auburn, New York", "Max Factor, Jr.", "Earth, Wind, 1999", "Auburn")
    assert [drop_state(title) for title in titles] == ["Auburn", None, None, None]
