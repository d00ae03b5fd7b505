"""Measured speeds side by side: a table in Markdown, and bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from parlink.evaluation.report.plots import STYLE
from parlink.evaluation.speed import Speed, Way

HEAD = ("", "way", "wall s", "CPU s", "tokens/s", "documents/s", "peak MB", "times")
_WIDTH, _LEFT, _RIGHT, _TOP, _ROW = 720, 230, 120, 48, 30


def to_table(speeds: Sequence[Speed]) -> str:
    """Lay measurements out, with how many times as fast each is as the first of its way; notes follow."""
    rows = [HEAD, tuple("---" if place < 2 else "---:" for place in range(len(HEAD)))]
    rows += [_row(speed, times) for speed, times in zip(speeds, compare(speeds), strict=True)]
    notes = dict.fromkeys(f"{speed.name}: {speed.note}" for speed in speeds if speed.note)
    batches = dict.fromkeys(f"in batches of {speed.batch_tokens:,} tokens" for speed in speeds if speed.batch_tokens)
    return "\n".join([*(f"| {' | '.join(row)} |" for row in rows), *(f"\n{note}" for note in (*notes, *batches))])


def compare(speeds: Sequence[Speed]) -> list[float]:
    """How many documents each links while the first of the same way links one."""
    first = {speed.way: speed for speed in reversed(speeds)}
    return [speed.documents_per_second / first[speed.way].documents_per_second for speed in speeds]


def to_svg(speeds: Sequence[Speed], *, way: Way = Way.SINGLY, title: str) -> str:
    """Draw documents a second as bars, each ten times the one before a fixed step longer."""
    bars = [(speed, times) for speed, times in zip(speeds, compare(speeds), strict=True) if speed.way is way]
    logs = [math.log10(speed.documents_per_second) for speed, _ in bars] or [0.0]
    low = min(logs) - 0.3
    unit = (_WIDTH - _LEFT - _RIGHT) / max(max(logs) - low, 1e-9)
    height = _TOP + _ROW * len(bars) + 12
    parts = [_bar(place, *bar, unit * (log - low)) for place, (bar, log) in enumerate(zip(bars, logs, strict=True))]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox="0 0 {_WIDTH} {height}" '
        f'role="img" aria-label="{escape(title)}"><style>{STYLE}</style>'
        f'<text class="title" x="12" y="26">{escape(title)}</text>{"".join(parts)}</svg>\n'
    )


def _row(speed: Speed, times: float) -> tuple[str, ...]:
    name = f"{speed.name} *" if speed.note else speed.name
    numbers = (speed.wall, speed.cpu, speed.tokens_per_second, speed.documents_per_second, speed.peak, times)
    return name, speed.way.value, *map(_format, numbers)


def _bar(place: int, speed: Speed, times: float, length: float) -> str:
    top = _TOP + _ROW * place
    name = f"{speed.name} *" if speed.note else speed.name
    said = f"{_format(speed.documents_per_second)}/s, {_format(times)} x"
    return (
        f'<text x="{_LEFT - 10}" y="{top + 15}" text-anchor="end">{escape(name)}</text>'
        f'<rect x="{_LEFT}" y="{top}" width="{length:.1f}" height="20" rx="3" style="fill:var(--one)"/>'
        f'<text x="{_LEFT + length + 8:.1f}" y="{top + 15}">{said}</text>'
    )


def _format(number: float) -> str:
    """Three digits that count, and no more behind the point than they need."""
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}"
