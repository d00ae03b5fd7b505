"""Regressions fitted by Newton's method."""

from __future__ import annotations

import numpy as np

from parlink.evaluation.regression import fit_logistic, fit_quadratic


def test_products_of_features_are_learned_where_they_decide() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(4000, 3)) + np.array([5.0, 0.0, 1.0])
    log_odds = 2 * (features[:, 0] - 5) * features[:, 1]
    right = (rng.random(4000) < 1 / (1 + np.exp(-log_odds))).astype(np.float64)
    quadratic, line = fit_quadratic(features, right, weights=np.ones(4000)), fit_logistic(features, right)
    wanted = 1 / (1 + np.exp(-log_odds))
    assert np.abs(quadratic.probability(features) - wanted).mean() < 0.05
    assert np.abs(line.probability(features) - wanted).mean() > 0.2
