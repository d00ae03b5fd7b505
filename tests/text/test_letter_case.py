"""How words are capitalized, beside a tokenizer that writes everything in small letters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlink.text.letter_case import CASES, letter_cases


@pytest.mark.parametrize(
    ("text", "cases"),
    [
        ("the US and us", [0, 2, 0, 0]),
        ("A McDonald of IBM3 in Élan", [1, 3, 0, 2, 0, 1]),
        ("iPhone ÉCOLE Straße I b", [3, 2, 1, 1, 0]),
        ("東京 Токио 42 Ⅻ", [0, 1, 0, 1]),
    ],
)
def test_each_word_has_its_case(text: str, cases: list[int]) -> None:
    starts = np.cumsum([0, *(len(word) + 1 for word in text.split(" ")[:-1])])
    assert letter_cases(text, starts).tolist() == cases


@given(st.text())
def test_every_character_has_a_case_and_small_letters_none(text: str) -> None:
    starts = np.arange(len(text))
    assert set(letter_cases(text, starts).tolist()) <= set(range(CASES))
    lower = text.lower()
    if not any(map(str.isupper, lower)):
        assert not letter_cases(lower, np.arange(len(lower))).any()


def test_all_pieces_of_a_word_have_its_case() -> None:
    assert letter_cases("in SCHALKE", np.array([0, 3, 6, 9])).tolist() == [0, 2, 2, 2]
