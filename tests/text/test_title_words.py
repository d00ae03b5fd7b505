"""Titles that are tokenized by their words have the tokens of titles that are tokenized whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Fast

from parlink.text.title_words import TitleWords
from parlink.text.tokenizer import Tokenizer
from tiny import byte_level_bpe, word_piece

PIECES = st.sampled_from(
    ["Elbe", "Kent", "it's", "'s", " ", "  ", "1996", "3-2", "\t", "\u00a0", "é", "e\u0301", "東京", "</s>", "!"]
)
TITLES = st.lists(
    st.lists(PIECES).map("".join) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
)


@given(st.lists(TITLES, max_size=3))
def test_titles_have_the_tokens_that_they_have_as_a_whole(batches: list[list[str]]) -> None:
    tokenizer = byte_level_bpe()
    tokenize = TitleWords(tokenizer)
    for titles in batches:
        for got, wanted in zip(tokenize(titles), tokenizer.titles_laid_flat(titles), strict=True):
            assert got.tolist() == wanted.tolist()


def test_a_word_is_tokenized_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer, asked = byte_level_bpe(), []
    whole = tokenizer.titles_laid_flat
    monkeypatch.setattr(tokenizer, "titles_laid_flat", lambda titles: asked.extend(titles) or whole(titles))
    tokenize = TitleWords(tokenizer)
    for titles in (["Kent", "Kent (band)", "New Kent"], ["Kent (band)", "Kent"]):
        tokenize(titles)
    assert asked == ["Kent", " (band)", "New", " Kent"]


@pytest.mark.parametrize(
    "change",
    [
        {"pre_tokenizer": None},
        {"normalizer": {"type": "NFC"}},
        {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}},
        {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}},
    ],
)
def test_other_tokenizers_read_titles_whole(change: dict[str, object]) -> None:
    parts = json.loads(byte_level_bpe()._fast.to_str())
    assert Tokenizer(Fast.from_str(json.dumps(parts))).reads_words_alone
    assert not Tokenizer(Fast.from_str(json.dumps(parts | change))).reads_words_alone


def test_a_tokenizer_with_words_of_its_own_reads_titles_whole() -> None:
    fast = Fast.from_str(byte_level_bpe()._fast.to_str())
    fast.add_tokens(["New York"])
    assert not Tokenizer(fast).reads_words_alone
    assert not word_piece(lowercase=False).reads_words_alone
