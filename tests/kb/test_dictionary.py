"""Names of a knowledge base in a text."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlink.checkpoint.config_file import packaged_model
from parlink.kb import KnowledgeBase
from parlink.kb.dictionary import LONGEST_REMEMBERED, Dictionary
from parlink.types import Entity, Span
from tiny_kb import tiny_kb

LINES = [
    {"title": title}
    for title in (
        "Finance", "Blue Harbor", "Blue Harbor Pump", "The Who", "C++", "San Jose, California", "Kent (band)",
        "U.S.", "McDonald's", "上海", "Emma Oberländer", "widget",
    )
]  # fmt: skip


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    return tiny_kb(tmp_path_factory.mktemp("kb"), LINES)


def names(kb: KnowledgeBase, text: str, *, any_case: bool = False) -> list[str]:
    spans = Dictionary(kb.snapshot(), least_linked=0.1, any_case=any_case).find(text)
    return [text[span.start : span.end] for span in spans]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("We asked Finance, and finance is hard.", ["Finance"]),
        ("The blue harbor pump leaks; the Blue Harbor is shut.", ["blue harbor pump", "Blue Harbor"]),
        ("Is it blue? Harbor pumps are.", []),
        ("The Who sang. Who sang?", ["The Who"]),
        ("C++, not C", ["C++"]),
        ("San Jose, California and San Jose California", ["San Jose, California", "San Jose California"]),
        ("san jose, california", []),
        ("Kent played; kent did not.", ["Kent"]),
        ("The U.S. told us.", ["U.S."]),
        ("At McDonald's", ["McDonald's"]),
        ("他住在上海市", ["上海"]),
        ("Oberländer paints", []),
        ("A widget, a Widget, widgets", ["widget"]),
        ("Financed", []),
        (
            "Two Blue Harbor Pumps, and blue harbor pumps; blue harbor pumpss",
            ["Blue Harbor Pumps", "blue harbor pumps", "blue harbor"],
        ),
        ("", []),
        ("\ud800 Finance", ["Finance"]),
    ],
)
def test_finds_the_longest_names_as_they_are_spelled(kb: KnowledgeBase, text: str, wanted: list[str]) -> None:
    assert names(kb, text) == wanted


def test_the_caller_may_ask_for_words_in_any_case(kb: KnowledgeBase) -> None:
    assert names(kb, "finance and a Widget", any_case=True) == ["finance", "Widget"]


def test_an_added_name_is_found_at_once_and_a_removed_one_no_more(tmp_path: Path) -> None:
    kb = tiny_kb(tmp_path)
    assert names(kb, "The MV Kent sank off Hamburg") == ["Kent", "Hamburg"]
    kb.add(Entity("Kent (ship)"), aliases=["MV Kent"])
    kb.remove("Hamburg")
    kb.remove("Hamburger SV")
    assert names(kb, "The MV Kent sank off Hamburg") == ["MV Kent"]


@given(st.text(st.sampled_from("Finance Blue Harbor上海C+'s.,\n\u0301"), max_size=60))
def test_whatever_is_found_is_a_name(kb: KnowledgeBase, text: str) -> None:
    spans = Dictionary(kb.snapshot(), least_linked=0.1).find(text)
    assert all(a.start < b.start and a.end < b.end for a, b in itertools.pairwise(spans))
    assert all(kb.candidates(text[span.start : span.end]) for span in spans)


def test_what_is_remembered_is_bounded_in_bytes(kb: KnowledgeBase) -> None:
    dictionary = Dictionary(kb.snapshot(), least_linked=0.1)
    for gap in range(1, 2000, 7):
        (span,) = dictionary.find(f"A Blue{gap * ' '}Harbor")
        assert (span.start, span.end) == (2, 12 + gap)
    assert sum(len(surface) for surface, _ in dictionary._known) < 300 * LONGEST_REMEMBERED


def test_in_a_large_knowledge_base_names_are_looked_for_only_where_a_mention_may_start() -> None:
    dictionary = Dictionary(KnowledgeBase.open(packaged_model() / "kb").snapshot(), least_linked=0.1)
    text = "Angela Merkel heard The Beatles in Berlin."

    def found(*starts: str) -> list[str]:
        spans = dictionary.find(text, starts={text.index(start) for start in starts})
        return [text[span.start : span.end] for span in spans]

    assert found() == []
    assert found("Berlin", "The") == ["The Beatles", "Berlin"]
    assert found("Angela", "Merkel", "The", "Berlin") == ["Angela Merkel", "The Beatles", "Berlin"]


def test_names_of_ones_own_are_found_wherever_they_are(kb: KnowledgeBase) -> None:
    text = "We asked Finance."
    assert Dictionary(kb.snapshot(), least_linked=0.1).find(text, starts=()) == [Span(9, 16)]
