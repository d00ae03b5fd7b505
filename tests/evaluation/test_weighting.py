"""The weights of a score's parts, fitted to what is right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from parlink.config import LinkOptions, ScoreWeights, Shortlist, Tuned
from parlink.evaluation.tuning_run import _read_all
from parlink.evaluation.weighting import fit_weights, reweight, weighted_total
from parlink.types import Candidate, Document, Link, Span

TEXT = "0123456789"
TRUE = ScoreWeights(lm=1.5, classifier=0.5, prior=0.8)


def candidate(title: str, lm: float, classifier: float, prior: float | None) -> Candidate:
    return Candidate(title, lm=lm, classifier=classifier, prior=prior, score=lm + classifier)


def drawn(documents: int, seed: int = 0) -> tuple[list[Document], list[Document]]:
    """Documents whose right candidates are drawn by the true weights."""
    rng = np.random.default_rng(seed)
    gold, predicted = [], []
    for _ in range(documents):
        wanted, links = [], []
        for place in range(5):
            choice = tuple(
                candidate(title, *rng.normal(size=2).tolist(), prior=float(rng.uniform(0.01, 1))) for title in "ABCD"
            )
            shares = np.exp([weighted_total(each, TRUE) for each in choice])
            title = str(rng.choice(list("ABCD"), p=shares / shares.sum()))
            span = Span(2 * place, 2 * place + 1)
            wanted.append(Link(span, title))
            links.append(Link(span, "A", mention_logit=1.0, mention_probability=0.7, candidates=choice))
        gold.append(Document(TEXT, links=tuple(wanted)))
        predicted.append(Document(TEXT, links=tuple(links)))
    return gold, predicted


def test_totals_by_weights() -> None:
    each = candidate("A", -2.0, 3.0, 0.5)
    assert weighted_total(each, ScoreWeights()) == 1.0
    assert weighted_total(each, ScoreWeights(lm=0.5, classifier=2.0, prior=1.0)) == pytest.approx(5 + math.log(0.5))
    assert weighted_total(replace(each, prior=None), ScoreWeights(lm=0, classifier=0, prior=1.0)) == math.log(1e-4)
    assert weighted_total(replace(each, coherence=0.5), ScoreWeights(coherence=2.0)) == 2.0


def test_the_true_weights_are_found_and_mostly_lie_in_their_intervals() -> None:
    inside = 0
    for seed in range(8):
        fitted = fit_weights(*drawn(100, seed), current=ScoreWeights())
        assert fitted is not None and fitted.mentions == 500 and fitted.weights.coherence == 0.0
        for name in ("lm", "classifier", "prior"):
            interval, wanted = fitted.intervals[name], getattr(TRUE, name)
            inside += interval.low < wanted < interval.high
            assert getattr(fitted.weights, name) == pytest.approx(wanted, abs=0.45)
    assert inside >= 18  # of 24, and 23 are to be expected


def test_a_document_that_counts_twice_is_as_two() -> None:
    gold, predicted = drawn(10)
    once = fit_weights(gold + gold[:5], predicted + predicted[:5], current=TRUE)
    twice = fit_weights(gold, predicted, current=TRUE, counts=[2.0] * 5 + [1.0] * 5)
    assert once is not None and twice is not None
    # The scales of the parts, and so the ridge, differ a little.
    assert twice.weights.lm == pytest.approx(once.weights.lm, rel=0.02)


def test_links_are_ranked_by_other_weights_and_nil_stays() -> None:
    candidates = (candidate("B", -1.0, 0.0, 0.01), candidate("A", -1.1, 0.0, 0.99))
    links = (Link(Span(0, 1), "B", candidates=candidates), Link(Span(3, 4), reason="nil", candidates=candidates))
    again = reweight(Document(TEXT, links=links), ScoreWeights(prior=1.0)).links
    assert again[0].title == "A" and again[0].candidates[0].title == "A" and again[1] == links[1]


def test_without_a_rival_there_is_nothing_to_fit() -> None:
    gold = [Document(TEXT, links=(Link(Span(0, 1), "A"),))]
    lone = Link(Span(0, 1), "A", candidates=(candidate("A", 0.0, 0.0, 1.0),))
    assert fit_weights(gold, [Document(TEXT, links=(lone,))], current=TRUE) is None


class Pages:
    """A graph in which A and B are on the same pages."""

    def pages_of(self, titles: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        many = np.array([5 if title in "AB" else 0 for title in titles], np.int64)
        return many, np.tile(np.arange(5, dtype=np.int64), np.count_nonzero(many))

    def page_weights(self, pages: np.ndarray) -> np.ndarray:
        return np.ones(len(pages))


def test_coherence_is_weighed_where_there_is_a_graph() -> None:
    gold, predicted = [], []
    for number in range(30):
        first = (candidate("A", 0.1 * (number % 3), 0.0, 0.5), candidate("C", 0.1, 0.0, 0.5))
        second = (candidate("B", 1.0, 0.0, 0.5), candidate("D", 0.0, 0.0, 0.5))
        links = tuple(
            Link(Span(at, at + 1), choice[0].title, candidates=choice) for at, choice in ((0, first), (4, second))
        )
        predicted.append(Document(TEXT, links=links))
        gold.append(Document(TEXT, links=(Link(Span(0, 1), "A"), Link(Span(4, 5), "B"))))
    fitted = fit_weights(gold, predicted, current=ScoreWeights(), graph=Pages())
    assert fitted is not None and fitted.weights.coherence > 0
    again = reweight(predicted[0], fitted.weights, graph=Pages()).links[0]
    support = {each.title: each.coherence for each in again.candidates}
    assert support["A"] and not support["C"]
    for each in again.candidates:
        assert each.score == pytest.approx(weighted_total(each, fitted.weights))


def test_weights_are_fitted_where_all_parts_are_computed_and_all_names_read() -> None:
    tuned = Tuned(shortlist=Shortlist())
    usual, wanted = (options.resolve(tuned) for options in (LinkOptions(), _read_all(LinkOptions())))
    assert (usual.compares, usual.shortlist) == (False, tuned.shortlist)
    assert (wanted.compares, wanted.shortlist) == (True, None)
