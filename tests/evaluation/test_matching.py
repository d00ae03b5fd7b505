from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.evaluation.matching import Annotation, Match, one_to_one
from parlink.types import Span

SPANS = [Span(start, end) for start in range(5) for end in range(start + 1, 6)]
ANNOTATIONS = st.lists(st.builds(Annotation, st.sampled_from(SPANS), st.sampled_from(["A", "B", None])), max_size=5)


def most_pairs(gold: Sequence[Annotation], predicted: Sequence[Annotation], match: Match) -> int:
    """Try every way to put gold beside predicted."""
    if len(gold) > len(predicted):
        return most_pairs(predicted, gold, match)
    rows = permutations(predicted, len(gold))
    return max(sum(map(same, gold, row, [match] * len(gold))) for row in rows)


def same(a: Annotation, b: Annotation, match: Match) -> bool:
    spans = a.span == b.span if match is Match.STRONG else a.span.overlaps(b.span)
    return spans and a.entity == b.entity


@settings(deadline=None)
@given(ANNOTATIONS, ANNOTATIONS, st.sampled_from(list(Match)))
def test_pairs_are_one_to_one_right_and_as_many_as_possible(
    gold: list[Annotation], predicted: list[Annotation], match: Match
) -> None:
    pairs = one_to_one(gold, predicted, match)
    assert all(same(gold[i], predicted[j], match) for i, j in pairs)
    assert all(a[0] != b[0] and a[1] != b[1] for a, b in combinations(pairs, 2))
    assert len(pairs) == most_pairs(gold, predicted, match)
    assert list(pairs) == sorted(pairs)


def test_a_greedy_choice_by_start_would_lose_a_pair() -> None:
    gold = [Annotation(Span(0, 9), "A"), Annotation(Span(0, 2), "A")]
    predicted = [Annotation(Span(1, 3), "A"), Annotation(Span(5, 6), "A")]
    assert len(one_to_one(gold, predicted, Match.WEAK)) == 2
