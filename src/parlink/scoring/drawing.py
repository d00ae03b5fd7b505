"""The curves of a score, drawn."""

from __future__ import annotations

from collections.abc import Sequence

from parlink.plots import Series, line_plot, reliability_plot
from parlink.scoring.curves import CurvePoint, Reliability


def draw_curve(curve: Sequence[CurvePoint], *, title: str, x_label: str, mark: float | None = None) -> str:
    """Draw F1, precision and recall over a threshold; `mark` is the one chosen."""
    series = [
        Series(name, tuple((point.threshold, 100 * getattr(point.scores, part)) for point in curve))
        for name, part in (("F1", "f1"), ("precision", "precision"), ("recall", "recall"))
    ]
    return line_plot(series, title=title, x_label=x_label, y_label="%", y_range=(0, 100), mark=mark)


def draw_reliability(reliability: Reliability, *, title: str) -> str:
    """Draw how many links of about the same confidence are right; the title gets the expected calibration error."""
    bins = [(one.confidence, one.accuracy, one.links) for one in reliability.bins]
    return reliability_plot(bins, title=f"{title}: calibration error {100 * reliability.error:.1f} %")
