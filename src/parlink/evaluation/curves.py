"""Scores by threshold and the reliability of a confidence, computed and drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from parlink.evaluation.counting import Rules, asserted_links, entities, linked_mentions
from parlink.evaluation.matching import one_to_one
from parlink.evaluation.metrics import Counts, Scores, scores
from parlink.evaluation.report.plots import Series, line_plot, reliability_plot
from parlink.types import Document

_STEPS = 50
_BINS = 10


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Micro scores at one threshold."""

    threshold: float
    scores: Scores


@dataclass(frozen=True, slots=True)
class Bin:
    """Links of about the same probability: how probable on average, and how many were right."""

    confidence: float
    accuracy: float
    links: int


@dataclass(frozen=True, slots=True)
class Reliability:
    """Bins of equal width from 0 to 1, the empty ones left out, and the expected calibration error."""

    bins: tuple[Bin, ...]
    error: float  # mean distance of confidence and accuracy, weighted by links
    links: int


def has_probabilities(predicted: Iterable[Document], rules: Rules) -> bool:
    """Whether there are links and every one to an entity has a score that reads as a probability."""
    links = [link for doc in predicted for link in asserted_links(doc, rules) if link.title is not None]
    return bool(links) and all(link.confidence is not None and 0 <= link.confidence <= 1 for link in links)


def confidence_curve(gold: Sequence[Document], predicted: Sequence[Document], rules: Rules) -> tuple[CurvePoint, ...]:
    """Score what is left at each least probability from 0 to 1; a prediction without a score always stays."""
    judgments = judge(gold, predicted, rules)
    wanted = sum(len(linked_mentions(doc)) for doc in gold)
    always = sum(len(asserted_links(doc, rules)) for doc in predicted) - len(judgments)
    points = []
    for step in range(_STEPS + 1):
        kept = [right for probability, right in judgments if probability >= step / _STEPS]
        tp = sum(kept)
        points.append(CurvePoint(step / _STEPS, scores(Counts(tp, always + len(kept) - tp, wanted - tp))))
    return tuple(points)


def judge(gold: Sequence[Document], predicted: Sequence[Document], rules: Rules) -> list[tuple[float, bool]]:
    """Return the probability of every link to an entity, and whether it was right; of duplicates the surest is."""
    found: list[tuple[float, bool]] = []
    for wanted, doc in zip(gold, predicted, strict=True):
        scored = [(link.confidence, link) for link in asserted_links(doc, rules) if link.confidence is not None]
        scored.sort(key=lambda item: -item[0])
        right = {
            j
            for _, j in one_to_one(entities(linked_mentions(wanted)), entities(link for _, link in scored), rules.match)
        }
        found += [(probability, j in right) for j, (probability, _) in enumerate(scored)]
    return found


def reliability(judgments: Sequence[tuple[float, bool]]) -> Reliability:
    """Sort judgments into ten bins by probability."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(_BINS)]
    for probability, right in judgments:
        bins[min(int(probability * _BINS), _BINS - 1)].append((probability, right))
    filled = tuple(_bin(content) for content in bins if content)
    distance = sum(abs(one.confidence - one.accuracy) * one.links for one in filled)
    return Reliability(filled, distance / max(len(judgments), 1), len(judgments))


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


def _bin(content: Sequence[tuple[float, bool]]) -> Bin:
    n = len(content)
    return Bin(sum(p for p, _ in content) / n, sum(right for _, right in content) / n, n)
