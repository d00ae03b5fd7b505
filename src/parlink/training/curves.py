"""`curves.svg` of a training run: the parts of the loss and the validation scores by step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from parlink.data import files
from parlink.evaluation.report.plots import HEIGHT, WIDTH, Series, line_plot
from parlink.nn.losses import PARTS

MOST_POINTS = 200  # of a line; more are averaged


def write_curves(path: Path, entries: Iterable[dict[str, Any]]) -> None:
    """Draw what `log.jsonl` holds."""
    logged = list(entries)
    steps = [entry for entry in logged if "losses" in entry]
    validations = [entry for entry in logged if "f1" in entry]
    plots = [_losses(steps)] if steps else []
    plots += [_scores(validations)] if validations else []
    with files.open_output(path) as file:
        file.write(_stack(plots).encode())


def _losses(steps: Sequence[dict[str, Any]]) -> str:
    at = [entry["total"] for entry in steps]  # the normalizer is a penalty of another size
    series = [Series(part, _thin(at, [entry["losses"][part] for entry in steps])) for part in PARTS[:4]]
    return line_plot(series, title="Training loss", x_label="step", y_label="loss")


def _scores(validations: Sequence[dict[str, Any]]) -> str:
    at = [entry["total"] for entry in validations]
    series = [
        Series(name, _thin(at, [100 * entry[key] for entry in validations]))
        for name, key in (("linking", "f1"), ("detection", "detection_f1"))
    ]
    best = max(validations, key=lambda entry: float(entry["f1"]))["total"]
    title = "Validation, InKB micro-F1"
    return line_plot(series, title=title, x_label="step", y_label="%", y_range=(0, 100), mark=best)


def _thin(at: Sequence[float], values: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """At most so many points, each the mean of its neighbors."""
    size = -(-len(at) // MOST_POINTS)
    groups = [slice(first, first + size) for first in range(0, len(at), size)]
    return tuple((_mean(at[group]), _mean(values[group])) for group in groups)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _stack(plots: Sequence[str]) -> str:
    """One picture of several, each below the one before."""
    placed = [
        plot.replace("<svg ", f'<svg y="{number * HEIGHT}" width="{WIDTH}" height="{HEIGHT}" ', 1)
        for number, plot in enumerate(plots)
    ]
    size = f'viewBox="0 0 {WIDTH} {max(1, len(plots)) * HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(placed)}</svg>\n'
