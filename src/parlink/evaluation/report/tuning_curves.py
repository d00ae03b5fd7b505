"""The curves of a tuning as SVG files: F1 by threshold, and the reliability of the confidence."""

from __future__ import annotations

from pathlib import Path

from parlink.data import files
from parlink.evaluation.curves import draw_curve, draw_reliability
from parlink.evaluation.tuning import Tuning


def write_curves(tuning: Tuning, folder: Path) -> list[Path]:
    """Draw F1 by mention threshold and by score threshold, and the reliability of the confidence, into a folder."""
    chosen = tuning.thresholds
    plots = {
        "threshold.svg": draw_curve(
            chosen.curve, title="Linking by mention threshold", x_label="log-odds of a start", mark=chosen.threshold
        ),
        "score-threshold.svg": draw_curve(
            chosen.score_curve,
            title="Linking by score threshold",
            x_label="total of the best candidate",
            mark=chosen.score_threshold,
        ),
    }
    if tuning.reliability is not None:
        plots["reliability.svg"] = draw_reliability(tuning.reliability, title="Reliability, 5-fold over documents")
    for name, svg in plots.items():
        with files.open_output(folder / name) as file:
            file.write(svg.encode())
    return [folder / name for name in plots]
