"""Regressions fitted by Newton's method, with a small ridge: logistic for yes or no, softmax for one of several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_RIDGE = 1.0  # on standardized features, so that separable data have an answer
_PAIR_RIDGE = 100.0  # on products of two, of which there are many
_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class Line:
    """Log-odds: a bias, and a slope for each feature."""

    bias: float
    slopes: Floats  # (features,)

    def probability(self, features: Floats) -> Floats:
        """Evaluate on rows of features, (rows, features)."""
        return logistic(self.bias + features @ self.slopes)


@dataclass(frozen=True, slots=True)
class Quadratic:
    """Log-odds: a bias, a slope for each feature, and one for each product of two."""

    line: Line
    pairs: Floats  # (features, features), 0 below the diagonal

    def probability(self, features: Floats) -> Floats:
        """Evaluate on rows of features, (rows, features)."""
        products = np.einsum("ri,ij,rj->r", features, self.pairs, features, optimize=True)
        return logistic(self.line.bias + features @ self.line.slopes + products)


def fit_quadratic(features: Floats, right: Floats, *, weights: Floats) -> Quadratic:
    """Fit the probability of being right as `fit_logistic` does, to products of two features too."""
    count = features.shape[1]
    mean = np.average(features, axis=0, weights=weights)
    scale = np.sqrt(np.average((features - mean) ** 2, axis=0, weights=weights))
    scale = np.where(scale > 1e-9, scale, 1.0)
    z = (features - mean) / scale
    first, second = np.triu_indices(count)
    ridge = np.concatenate([np.full(count, _RIDGE), np.full(len(first), _PAIR_RIDGE)])
    fitted = fit_logistic(np.hstack([z, z[:, first] * z[:, second]]), right, weights=weights, ridge=ridge)
    pairs = np.zeros((count, count))
    pairs[first, second] = fitted.slopes[count:]
    pairs = pairs / np.outer(scale, scale)
    slopes = fitted.slopes[:count] / scale - (pairs + pairs.T) @ mean
    return Quadratic(
        Line(float(fitted.bias - (fitted.slopes[:count] / scale) @ mean + mean @ pairs @ mean), slopes), pairs
    )


def fit_logistic(
    features: Floats, right: Floats, *, weights: Floats | None = None, ridge: Floats | float = _RIDGE
) -> Line:
    """Fit the probability of being right; `features` (rows, features), `right` (rows,) 0 or 1, `weights` (rows,).

    `ridge` is that on each feature, standardized.
    """
    counts = np.ones(len(features)) if weights is None else weights
    mean = np.average(features, axis=0, weights=counts)
    scale = np.sqrt(np.average((features - mean) ** 2, axis=0, weights=counts))
    scale = np.where(scale > 1e-9, scale, 1.0)
    design = np.column_stack([np.ones(len(features)), (features - mean) / scale])
    penalty = np.diag([1e-6, *np.broadcast_to(ridge, features.shape[1])])
    line = np.zeros(design.shape[1])
    for _ in range(_ROUNDS):
        p = logistic(design @ line)
        gradient = design.T @ (counts * (right - p)) - penalty @ line
        curvature = (design * (counts * p * (1 - p))[:, None]).T @ design + penalty
        step = np.linalg.solve(curvature, gradient)
        line += _shorten(step)  # no leap out of the flat regions
        if np.abs(step).max() < 1e-9:
            break
    slopes = line[1:] / scale
    return Line(float(line[0] - slopes @ mean), slopes)


@dataclass(frozen=True, slots=True)
class Softmax:
    """Weights of the parts of scores, and the covariance of their estimates over groups of rows."""

    weights: Floats  # (parts,)
    covariance: Floats  # (parts, parts)


def fit_softmax(
    parts: Floats,
    offered: NDArray[np.bool_],
    right: NDArray[np.int64],
    group: NDArray[np.int64],
    *,
    counts: Floats | None = None,
) -> Softmax:
    """Maximize the likelihood of the right one of each row's choices.

    `parts` (rows, choices, parts), `offered` (rows, choices) which there are, `right` (rows,) the place of the right
    one, `group` (rows,) rows of one document, which are not independent of each other, `counts` (rows,) for how many
    each row counts.
    """
    scale = parts[offered].std(0)
    scale = np.where(scale > 1e-9, scale, 1.0)
    design = np.where(offered[:, :, None], parts / scale, 0.0)
    chosen = design[np.arange(len(right)), right]  # (rows, parts)
    times = np.ones(len(right)) if counts is None else counts
    weights, ridge = np.zeros(parts.shape[2]), _RIDGE * np.eye(parts.shape[2])
    for _ in range(_ROUNDS):
        p = _softmax(np.where(offered, design @ weights, -np.inf))
        mean = np.einsum("rc,rcp->rp", p, design)
        spread = np.einsum("rc,rcp,rcq->pq", p * times[:, None], design, design, optimize=True)
        curvature = spread - (mean * times[:, None]).T @ mean + ridge
        step = np.linalg.solve(curvature, times @ (chosen - mean) - ridge @ weights)
        weights = weights + _shorten(step)
        if np.abs(step).max() < 1e-9:
            break
    inverse, gradients = np.linalg.inv(curvature), np.zeros((int(group.max(initial=0)) + 1, parts.shape[2]))
    np.add.at(gradients, group, times[:, None] * (chosen - mean))
    return Softmax(weights / scale, inverse @ gradients.T @ gradients @ inverse / np.outer(scale, scale))


def logistic(log_odds: Floats) -> Floats:
    """The probability that log-odds stand for."""
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -50, 50))))


def _shorten(step: Floats) -> Floats:
    return np.asarray(step * min(1.0, 5 / max(float(np.abs(step).max()), 1e-12)))


def _softmax(scores: Floats) -> Floats:
    shares = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(shares / shares.sum(1, keepdims=True))
