from __future__ import annotations

import numpy as np
import pytest

from parlink.decision_config import Confidence
from parlink.errors import ParlinkError
from parlink.evaluation.calibration import cross_validate, fit, fit_confidence, probability
from parlink.types import Candidate, Document, Link, Span

TRUE = Confidence(bias=-1.0, mention_logit=0.5, total=0.25, margin=1.0, log_prior=0.1)


def drawn(rng: np.random.Generator, links: int) -> np.ndarray:
    return np.column_stack(
        [
            rng.normal(1, 2, links),
            rng.normal(-3, 4, links),
            rng.uniform(0, 5, links),
            np.log(rng.uniform(0.01, 1, links)),
        ]
    )


def test_the_regression_that_made_the_data_is_found_again() -> None:
    rng = np.random.default_rng(0)
    features = drawn(rng, 20_000)
    right = (rng.random(20_000) < probability(TRUE, features)).astype(float)
    found = fit(features, right)
    assert [found.bias, found.mention_logit, found.total, found.margin, found.log_prior] == pytest.approx(
        [-1.0, 0.5, 0.25, 1.0, 0.1], abs=0.1
    )


def test_the_fit_is_where_the_gradient_is_zero() -> None:
    rng = np.random.default_rng(1)
    features, right = drawn(rng, 300), (rng.random(300) < 0.7).astype(float)
    found = probability(fit(features, right), features)
    scale = features.std(0)
    slopes = fit(features, right)
    ridge = np.array([slopes.mention_logit, slopes.total, slopes.margin, slopes.log_prior]) * scale
    standard = (features - features.mean(0)) / scale
    assert standard.T @ (right - found) == pytest.approx(ridge, abs=1e-6)
    assert found.mean() == pytest.approx(right.mean(), abs=1e-6)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_separable_and_constant_data_have_a_finite_answer(value: float) -> None:
    features = np.column_stack([np.linspace(-1, 1, 50), np.ones(50), np.zeros(50), np.zeros(50)])
    found = fit(features, (features[:, 0] > 0).astype(float))
    assert np.isfinite([found.bias, found.mention_logit]).all() and found.mention_logit > 0 and found.total == 0.0
    same = probability(fit(features, np.full(50, value)), features)
    assert np.abs(same - value).max() < 0.05


def test_rows_and_single_links_are_computed_alike() -> None:
    one = TRUE.probability(mention_logit=2.0, total=-1.0, margin=None, prior=0.2)
    row = probability(TRUE, np.array([[2.0, -1.0, 10.0, np.log(0.2)]]))
    assert one == pytest.approx(float(row[0]))


def documents(count: int) -> tuple[list[Document], list[Document]]:
    """Links of which those with a wide margin are right."""
    gold, predicted = [], []
    rng = np.random.default_rng(2)
    for number in range(count):
        margin = float(rng.uniform(0, 6))
        title = "A" if rng.random() < 1 / (1 + np.exp(3 - 1.5 * margin)) else "B"
        candidates = (Candidate(title, score=margin, prior=0.5), Candidate("C", score=0.0, prior=0.5))
        text, span = "Kent", Span(0, 4)
        gold.append(Document(text, id=str(number), links=(Link(span, "A"),)))
        predicted.append(
            Document(text, id=str(number), links=(Link(span, title, mention_logit=1.0, candidates=candidates),))
        )
    return gold, predicted


def test_confidence_is_calibrated_on_documents_it_has_not_seen() -> None:
    gold, predicted = documents(2000)
    held_out = cross_validate(gold, predicted)
    assert held_out is not None and held_out.links == 2000 and held_out.error < 0.04
    fitted = fit_confidence(gold, predicted)
    assert fitted.margin + fitted.total > 1.0 and fitted.mention_logit == 0.0
    assert cross_validate(gold[:4], predicted[:4]) is None


def test_no_links_cannot_be_fitted() -> None:
    with pytest.raises(ParlinkError, match="no link with a scored candidate"):
        fit_confidence([Document("x")], [Document("x")])
