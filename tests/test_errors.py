"""Errors pass from one process to another as they are."""

from __future__ import annotations

import pickle

import pytest

from parlink.errors import DataFormatError, TextError


@pytest.mark.parametrize(
    "error", [DataFormatError("broken", path="a.jsonl", line=3), DataFormatError("gone", path="b"), TextError("empty")]
)
def test_an_error_of_another_process_says_the_same(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)
