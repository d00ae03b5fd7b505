"""What is remembered is bounded in bytes."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from parlink.text.title_cache import TitleCache
from tiny import byte_level_bpe


def test_long_titles_are_not_kept() -> None:
    tokenizer = byte_level_bpe()
    before = tokenizer._title.bytes
    for number in range(40):
        assert len(tokenizer.title(f"{number}" + "x" * 300_000)) > 0
    assert tokenizer._title.bytes == before


@given(st.lists(st.text(max_size=40), max_size=60))
def test_answers_are_those_of_the_function_and_bytes_stay_below_the_bound(titles: list[str]) -> None:
    cache = TitleCache(lambda new: [tuple(map(ord, title)) for title in new], max_bytes=100_000)
    for title in titles:
        assert cache([title]) == [tuple(map(ord, title))]
        assert cache.bytes <= 100_000
    assert cache(titles) == [tuple(map(ord, title)) for title in titles]
    assert cache.bytes <= 100_000


def test_the_title_used_longest_ago_goes_first() -> None:
    asked: list[str] = []

    def encode(titles: Sequence[str]) -> list[tuple[int, ...]]:
        asked.extend(titles)
        return [(1,) for _ in titles]

    cache = TitleCache(encode, max_bytes=100 * 64 * 10)  # some 200 titles
    for number in range(1000):
        cache(["first"])
        cache([str(number)])
        cache([str(number)])
    assert asked.count("first") == 1 and len(asked) == 1001  # it is used all the time, and others go for new ones
    for number in range(1000):
        cache([f"new {number}"])
    cache(["first"])
    assert asked.count("first") == 2
