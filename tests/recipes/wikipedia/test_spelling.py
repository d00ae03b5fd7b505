from __future__ import annotations

from recipes.wikipedia.spelling import spell


def test_spelling_is_composed_single_spaced_and_capital() -> None:
    assert spell("zu\u0308rich  airport") == "Zürich airport"
    assert spell("ßtraße") == "ßtraße"  # no single capital
