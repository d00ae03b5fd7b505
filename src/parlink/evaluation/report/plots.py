"""Small plots as SVG text, by hand: lines over a number, and a reliability diagram; they follow light and dark."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 640, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 20, 80, 54

STYLE = """
.plot { --ink: #1f2328; --soft: #59636e; --grid: #e4e7eb; --paper: #ffffff; --one: #2a78d6; --two: #d95f28;
  --three: #14936a; --four: #8a55c9; font: 15px system-ui, sans-serif; background: var(--paper); }
@media (prefers-color-scheme: dark) { .plot { --ink: #e6e9ee; --soft: #9aa4b0; --grid: #2c323a; --paper: #15181d;
  --one: #5a9cf0; --two: #ee8552; --three: #35b88c; --four: #b18ae0; } }
.plot text { fill: var(--soft); } .plot .title { fill: var(--ink); font-size: 17px; font-weight: 600; }
.plot .grid { stroke: var(--grid); } .plot .axis { stroke: var(--soft); } .plot .guide { stroke: var(--soft);
  stroke-dasharray: 4 4; } .plot .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.plot .dot { stroke: var(--paper); stroke-width: 2; } .plot .touch { fill: transparent; }
.plot .touch:hover { fill: var(--ink); }
"""
_COLORS = ("--one", "--two", "--three", "--four")


@dataclass(frozen=True, slots=True)
class Series:
    """A named line."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """The range of a plot's x or y, and its label."""

    label: str
    low: float
    high: float

    @classmethod
    def around(cls, label: str, values: Iterable[float]) -> Axis:
        """Return an axis that holds all values that are numbers."""
        finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
        low, high = min(finite), max(finite)
        return cls(label, low, high) if high > low else cls(label, low - 0.5, high + 0.5)

    def share(self, value: float) -> float:
        """Return where a value lies, 0 at the low end and 1 at the high end."""
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Return about five round values inside the range."""
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / 4))
        step *= next(m for m in (1, 2, 5, 10) if (self.high - self.low) / (step * m) <= 6)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(index * step, 10) for index in range(first, last + 1)]


def line_plot(
    series: Sequence[Series],
    *,
    title: str,
    x_label: str,
    y_label: str,
    y_range: tuple[float, float] | None = None,
    mark: float | None = None,
) -> str:
    """Draw lines over a common x; `mark` is an x that stands out, such as the value chosen."""
    x = Axis.around(x_label, [a for line in series for a, _ in line.points])
    y = Axis(y_label, *y_range) if y_range else Axis.around(y_label, [b for line in series for _, b in line.points])
    parts = [_frame(x, y), _legend([line.name for line in series])]
    if mark is not None:
        parts.append(_guide(x, y, mark))
    parts += [_line(line, x, y, color) for line, color in zip(series, _cycle_colors(len(series)), strict=True)]
    return _svg(title, parts)


def reliability_plot(bins: Sequence[tuple[float, float, int]], *, title: str) -> str:
    """Draw accuracy over confidence; a bin is (confidence, accuracy, links), the more links the larger the dot."""
    x, y = Axis("confidence", 0.0, 1.0), Axis("share right", 0.0, 1.0)
    most = max((links for _, _, links in bins), default=1)
    diagonal = f'<path class="line guide" d="M{_at(0, 0, x, y)}L{_at(1, 1, x, y)}"/>'
    points = Series("links", tuple((confidence, accuracy) for confidence, accuracy, _ in bins))
    dots = [
        f'<circle class="dot" style="fill:var(--one)" {_center(confidence, accuracy, x, y)} '
        f'r="{4 + 8 * math.sqrt(links / most):.1f}"><title>{links:,} links: confidence {confidence:.3f}, '
        f"right {accuracy:.3f}</title></circle>"
        for confidence, accuracy, links in bins
    ]
    return _svg(title, [_frame(x, y), diagonal, _path(points, x, y, "--one"), *dots])


def _svg(title: str, parts: Iterable[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'role="img" aria-label="{escape(title)}"><style>{STYLE}</style>'
        f'<text class="title" x="12" y="26">{escape(title)}</text>{"".join(parts)}</svg>\n'
    )


def _frame(x: Axis, y: Axis) -> str:
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    parts = [f'<path class="axis" d="M{_LEFT} {bottom}H{right}"/>']
    for value in y.ticks():
        at = _down(value, y)
        parts.append(f'<path class="grid" d="M{_LEFT} {at}H{right}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{at}" dy="5" text-anchor="end">{value:g}</text>')
    for value in x.ticks():
        parts.append(f'<text x="{_across(value, x)}" y="{bottom + 20}" text-anchor="middle">{value:g}</text>')
    middle = (_LEFT + right) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">{escape(x.label)}</text>')
    parts.append(f'<text x="12" y="{_TOP - 14}">{escape(y.label)}</text>')
    return "".join(parts)


def _legend(names: Sequence[str]) -> str:
    parts, at = [], _LEFT + 40
    for name, color in zip(names, _cycle_colors(len(names)), strict=True):
        parts.append(f'<path class="line" style="stroke:var({color})" d="M{at} 48h18"/>')
        parts.append(f'<text x="{at + 25}" y="53">{escape(name)}</text>')
        at += 46 + 8 * len(name)
    return "".join(parts)


def _guide(x: Axis, y: Axis, value: float) -> str:
    at = _across(value, x)
    number = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    anchor = "end" if value >= x.high else "middle"  # at the right edge there is no room beside it
    label = f'<text x="{at}" y="{_TOP - 4}" text-anchor="{anchor}">{number}</text>'
    return f'<path class="guide" d="M{at} {_TOP}V{HEIGHT - _BOTTOM}"/>{label}'


def _line(series: Series, x: Axis, y: Axis, color: str) -> str:
    touch = [
        f'<circle class="touch" {_center(a, b, x, y)} r="4"><title>{escape(series.name)} {b:.4g} '
        f"at {a:.4g}</title></circle>"
        for a, b in series.points
        if math.isfinite(b)
    ]
    return _path(series, x, y, color) + "".join(touch)


def _path(series: Series, x: Axis, y: Axis, color: str) -> str:
    places = [_at(a, b, x, y) for a, b in series.points if math.isfinite(b)]
    return f'<path class="line" style="stroke:var({color})" d="M{"L".join(places)}"/>' if places else ""


def _center(a: float, b: float, x: Axis, y: Axis) -> str:
    return f'cx="{_across(a, x)}" cy="{_down(b, y)}"'


def _at(a: float, b: float, x: Axis, y: Axis) -> str:
    return f"{_across(a, x)} {_down(b, y)}"


def _across(value: float, axis: Axis) -> float:
    return round(_LEFT + axis.share(value) * (WIDTH - _LEFT - _RIGHT), 1)


def _down(value: float, axis: Axis) -> float:
    return round(HEIGHT - _BOTTOM - axis.share(value) * (HEIGHT - _TOP - _BOTTOM), 1)


def _cycle_colors(count: int) -> list[str]:
    return [_COLORS[index % len(_COLORS)] for index in range(count)]
