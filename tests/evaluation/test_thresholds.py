from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.config import Tuned
from parlink.evaluation import counting
from parlink.evaluation.conditions import Condition
from parlink.evaluation.counting import NO_CANDIDATE, Rules
from parlink.evaluation.metrics import scores, total
from parlink.evaluation.thresholds import GRID, choose_thresholds
from parlink.evaluation.tuning import tune
from parlink.linking.overlaps import resolve_overlaps
from parlink.types import Candidate, Document, Link, Span

TEXT = "abcdefghijklmnopqrstuvwxyz"
STRICT = Rules(condition=Condition.GIVEN_STRICT)


@st.composite
def proposed(draw: st.DrawFn) -> Link:
    start = draw(st.integers(0, 12))
    detection = draw(st.floats(-4.97, 4.97))
    link = Link(
        Span(start, start + draw(st.integers(1, 4))),
        mention_logit=detection,
        mention_probability=1 / (1 + math.exp(-detection)),
    )
    title = draw(st.sampled_from(["A", "B", None]))
    if title is None:
        return replace(link, reason=NO_CANDIDATE)
    return replace(link, title=title, candidates=(Candidate(title, score=draw(st.floats(-3, 3))),))


LINKS = st.lists(proposed(), max_size=8, unique_by=lambda link: link.span)
GOLD_LINKS = st.lists(
    st.builds(
        Link, st.builds(lambda a, n: Span(a, a + n), st.integers(0, 12), st.integers(1, 4)), st.sampled_from("AB")
    ),
    max_size=5,
    unique_by=lambda link: link.span,
)
PAIRS = st.lists(st.tuples(GOLD_LINKS, LINKS), min_size=1, max_size=3)


def linked_at(doc: Document, threshold: float, least: float | None) -> Document:
    """What the linker would do at these thresholds."""
    above = [link for link in doc.links if (link.mention_logit or 0) > threshold]
    kept = resolve_overlaps(above, [link.span for link in above], [link.mention_probability or 0 for link in above])
    return replace(doc, links=tuple(link if enough(link, least) else replace(link, title=None) for link in kept))


def enough(link: Link, least: float | None) -> bool:
    return least is None or not link.candidates or (link.candidates[0].score or 0.0) >= least


@settings(max_examples=40, deadline=None)
@given(PAIRS, st.sampled_from([Rules(), STRICT]))
def test_every_point_of_the_curves_is_what_linking_at_it_would_score(
    pairs: list[tuple[list[Link], list[Link]]], rules: Rules
) -> None:
    gold = [Document(TEXT, links=tuple(links)) for links, _ in pairs]
    predicted = [Document(TEXT, links=tuple(links)) for _, links in pairs]

    def f1(threshold: float, least: float | None = None) -> float:
        found = [linked_at(doc, threshold, least) for doc in predicted]
        return scores(total([counting.inkb(a, b, rules) for a, b in zip(gold, found, strict=True)])).f1

    chosen = choose_thresholds(gold, predicted, rules=rules)
    assert [point.threshold for point in chosen.curve] == list(GRID)
    assert [point.scores.f1 for point in chosen.curve] == [f1(at) for at in GRID]
    assert f1(chosen.threshold) == max(map(f1, GRID))
    for point in chosen.score_curve:
        assert point.scores.f1 == f1(chosen.threshold, point.threshold)
    assert chosen.scores.f1 == f1(chosen.threshold, chosen.score_threshold)
    assert chosen.scores.f1 == max([f1(chosen.threshold), *(point.scores.f1 for point in chosen.score_curve)])


def test_the_middle_of_the_best_run_is_taken() -> None:
    gold = [Document(TEXT, links=(Link(Span(0, 1), "A"),))]
    links = (
        Link(Span(0, 1), "A", mention_logit=1.05, mention_probability=0.7, candidates=(Candidate("A", score=1.0),)),
        Link(Span(5, 6), "B", mention_logit=-1.05, mention_probability=0.3, candidates=(Candidate("B", score=0.0),)),
    )
    chosen = choose_thresholds(gold, [Document(TEXT, links=links)])
    assert chosen.threshold == 0.0 and chosen.score_threshold is None and chosen.scores.f1 == 1.0
    assert (GRID[0], GRID[-1], len(GRID)) == (-5.0, 5.0, 101)


def candidate(title: str, lm: float, classifier: float, prior: float | None) -> Candidate:
    return Candidate(title, lm=lm, classifier=classifier, prior=prior, score=lm + classifier)


def test_tune_chooses_everything_at_once() -> None:
    gold, predicted = [], []
    for number in range(20):
        right, sure = number % 4 != 0, number % 3 != 0
        gold.append(Document(TEXT, id=str(number), links=(Link(Span(0, 1), "A"),)))
        candidates = (
            candidate("A" if right else "B", 1.0 if right else -1.0, 0.0, 0.5),
            candidate("C", -2.0, 0.0, 0.5),
        )
        links = (
            Link(
                Span(0, 1),
                candidates[0].title,
                mention_logit=2.0 + sure,
                mention_probability=0.9,
                candidates=candidates,
            ),
            Link(Span(8, 9), "C", mention_logit=-2.0, mention_probability=0.1, candidates=candidates[1:]),
        )
        predicted.append(Document(TEXT, id=str(number), links=links))
    tuning = tune(gold, predicted, tuned=Tuned(mention_threshold=4.0), weights=True)
    assert -2.0 <= tuning.tuned.mention_threshold < 2.0
    assert tuning.thresholds.scores.f1 == pytest.approx(2 * 15 / 35)
    assert tuning.tuned.score_threshold == 0.0 and tuning.links == 15
    assert tuning.tuned.confidence is not None and tuning.tuned.confidence.total == pytest.approx(0.0, abs=1e-9)
    assert tuning.reliability is not None and tuning.reliability.links == 15


def test_nothing_found_is_tuned_too() -> None:
    tuning = tune([Document(TEXT, links=(Link(Span(0, 1), "A"),))], [Document(TEXT)], tuned=Tuned())
    assert tuning.tuned.confidence is None and tuning.reliability is None and tuning.thresholds.scores.f1 == 0.0
