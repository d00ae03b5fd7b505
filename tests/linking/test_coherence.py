from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.linking import coherence
from parlink.linking.coherence import ScoredMention, relate, support


class Graph:
    """Pages by title, in a dictionary."""

    def __init__(self, pages: dict[str, set[int]]) -> None:
        self._pages = pages
        self._links: dict[int, int] = defaultdict(int)
        for numbers in pages.values():
            for page in numbers:
                self._links[page] += 1

    def pages(self, title: str) -> np.ndarray:
        return np.array(sorted(self._pages.get(title, ())), np.int64)

    def pages_of(self, titles: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        listed = [self.pages(title) for title in titles]
        return np.array([*map(len, listed)], np.int64), np.concatenate([*listed, np.empty(0, np.int64)])

    def page_weights(self, pages: np.ndarray) -> np.ndarray:
        return np.array([1 / math.log(2 + self._links[page]) for page in pages.tolist()])


TITLES = "ABCDEF"
graphs = st.dictionaries(st.sampled_from(TITLES), st.sets(st.integers(0, 5), max_size=4)).map(Graph)
candidates = st.lists(st.sampled_from(TITLES), unique=True, min_size=1, max_size=4)
mentions = st.builds(
    lambda name, titles, scores, p: ScoredMention(name, tuple(titles), np.array(scores[: len(titles)]), p),
    st.sampled_from(["Kent", "Dresden", "Mercury"]),
    candidates,
    st.lists(st.floats(-5, 5), min_size=4, max_size=4),
    st.floats(0, 1),
)


def relation(graph: Graph, a: str, b: str) -> float:
    if a == b:
        return 1.0
    x, y = ({p: graph.page_weights(np.array([p]))[0] for p in graph.pages(t).tolist()} for t in (a, b))
    norms = math.sqrt(sum(w * w for w in x.values())) * math.sqrt(sum(w * w for w in y.values()))
    trust = math.sqrt(math.prod(len(pages) / (len(pages) + coherence.FEW) for pages in (x, y)))
    return math.sqrt(trust * sum(w * y.get(page, 0.0) for page, w in x.items()) / norms) if norms else 0.0


def plain_support(document: list[ScoredMention], graph: Graph, weight: float) -> list[list[float]]:
    """The definition, one number at a time."""
    gained = [[0.0] * len(m.titles) for m in document]
    if len({m.name for m in document}) < 2:
        return gained
    for _ in range(coherence.ROUNDS):
        likely: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for m, gain in zip(document, gained, strict=True):
            shares = [math.exp(s + weight * g) for s, g in zip(m.scores.tolist(), gain, strict=True)]
            same = sum(other.name == m.name for other in document)
            for title, share in zip(m.titles, shares, strict=True):
                likely[m.name][title] += share / sum(shares) / same
        gained = []
        for m in document:
            row = []
            for title in m.titles:
                each = [
                    max(p * relation(graph, title, other) for other, p in choices.items())
                    * max(m.probability for m in document if m.name == name)
                    for name, choices in likely.items()
                    if name != m.name
                ]
                best = sorted(each)[-coherence.SUPPORTERS :]
                row.append(sum(best) / len(best))
            gained.append(row)
    return gained


@settings(deadline=None)
@given(st.lists(mentions, max_size=6), graphs, st.floats(0, 20))
def test_support_is_what_a_plain_loop_says(document: list[ScoredMention], graph: Graph, weight: float) -> None:
    for row, wanted in zip(
        support(document, graph, weight=weight), plain_support(document, graph, weight), strict=True
    ):
        assert row.tolist() == pytest.approx(wanted, rel=1e-6, abs=1e-9)
        assert all(0 <= value <= 1 for value in row)


@settings(deadline=None)
@given(st.lists(mentions, max_size=6), graphs, st.randoms())
def test_the_order_of_mentions_does_not_matter(document: list[ScoredMention], graph: Graph, rng: object) -> None:
    order = list(range(len(document)))
    rng.shuffle(order)  # type: ignore[attr-defined]
    moved = support([document[i] for i in order], graph, weight=5.0)
    plain = support(document, graph, weight=5.0)
    for place, i in enumerate(order):
        assert moved[place].tolist() == pytest.approx(plain[i].tolist(), rel=1e-6, abs=1e-9)


def test_titles_that_the_same_pages_link_to_are_related() -> None:
    graph = Graph({"A": {1, 2}, "B": {1, 2}, "C": {3}, "D": set()})
    related = relate(["A", "B", "C", "D"], graph)
    assert (
        related[0, 1] == pytest.approx(math.sqrt(2 / (2 + coherence.FEW)))
        and related[0, 2] == 0.0
        and related[3, 3] == 1.0
    )
    assert np.array_equal(related, related.T)


def test_pages_with_many_titles_count_as_those_with_few(monkeypatch: pytest.MonkeyPatch) -> None:
    titles = [str(number) for number in range(12)]
    graph = Graph({title: {page for page in range(1, 40) if int(title) % (page % 5 + 1) == 0} for title in titles})
    expected = relate(titles, graph)
    assert len(np.unique(expected.round(6))) > 3
    for many in (0, 5):
        monkeypatch.setattr(coherence, "MANY", many)
        assert np.allclose(relate(titles, graph), expected, atol=1e-6)


def test_a_title_that_few_pages_link_to_is_related_less() -> None:
    few, many = (relate(["A", "B"], Graph({"A": set(range(n)), "B": set(range(n))}))[0, 1] for n in (1, 20))
    assert few < many < 1


def test_a_name_that_is_hardly_a_mention_supports_little() -> None:
    graph = Graph({"Boston Celtics": {1, 2}, "Chicago Bulls": {1, 2}})
    celtics = ScoredMention("Boston", ("Boston Celtics",), np.zeros(1))
    for probability in (1.0, 0.1):
        bulls = ScoredMention("Chicago", ("Chicago Bulls",), np.zeros(1), probability)
        (gain,), _ = support([celtics, bulls], graph, weight=1.0)
        assert gain == pytest.approx(probability * relate(["Boston Celtics", "Chicago Bulls"], graph)[0, 1])


def test_a_name_chooses_what_fits_the_others() -> None:
    graph = Graph({"Boston Celtics": {1, 2}, "Boston": {3}, "Chicago Bulls": {1, 2}, "Chicago": {4}})
    boston = ScoredMention("Boston", ("Boston", "Boston Celtics"), np.array([0.3, 0.0]))
    chicago = ScoredMention("Chicago", ("Chicago", "Chicago Bulls"), np.array([0.0, 2.0]))
    first, _ = support([boston, chicago], graph, weight=10.0)
    assert first[1] > 0.4 > first[0]


def test_work_grows_with_the_text_and_not_with_its_square(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def count(titles: list[str], graph: object) -> np.ndarray:
        sizes.append(len(titles) ** 2)
        return np.eye(len(titles))

    monkeypatch.setattr(coherence, "relate", count)
    for length in (1000, 2000):
        document = [ScoredMention(f"name {i}", (f"title {i}",), np.zeros(1)) for i in range(length)]
        sizes.append(0)
        support(document, Graph({}), weight=1.0)
    middle = sizes.index(0, 1)
    assert sum(sizes[middle:]) < 2.2 * sum(sizes[:middle])
