from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.evaluation.report.plots import HEIGHT, WIDTH, Axis, Series, line_plot, reliability_plot

SVG = "{http://www.w3.org/2000/svg}"


def lines(svg: str) -> list[str]:
    return [path.get("d", "") for path in ElementTree.fromstring(svg).iter(f"{SVG}path") if path.get("class") == "line"]


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=1, max_size=20))
def test_a_line_stays_inside_the_plot_whatever_the_numbers(points: list[tuple[float, float]]) -> None:
    svg = line_plot([Series("a", tuple(points))], title="t", x_label="x", y_label="y")
    path = lines(svg)[-1]
    for place in path.removeprefix("M").split("L"):
        x, y = map(float, place.split())
        assert 0 <= x <= WIDTH and 0 <= y <= HEIGHT


@settings(deadline=None)
@given(st.floats(-1e5, 1e5), st.floats(1e-4, 1e5))
def test_ticks_are_few_and_inside(low: float, width: float) -> None:
    axis = Axis("x", low, low + width)
    ticks = axis.ticks()
    assert 2 <= len(ticks) <= 8
    assert all(low - 1e-6 * width <= tick <= low + width * (1 + 1e-6) for tick in ticks)


def test_names_are_escaped_and_numbers_that_are_none_left_out() -> None:
    points = ((0.0, 1.0), (1.0, math.nan), (2.0, 3.0))
    svg = line_plot([Series("<F1> & co", points)], title='"t" <script>', x_label="<x>", y_label="&", mark=1.0)
    root = ElementTree.fromstring(svg)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert "<F1> & co" in texts and '"t" <script>' in texts and "1" in texts
    assert "nan" not in svg and lines(svg)[-1].count("L") == 1


def test_a_plot_of_nothing_is_a_plot() -> None:
    ElementTree.fromstring(line_plot([Series("a", ())], title="t", x_label="x", y_label="y"))
    ElementTree.fromstring(reliability_plot([], title="t"))


def test_reliability_draws_a_dot_for_each_bin_larger_for_more_links() -> None:
    root = ElementTree.fromstring(reliability_plot([(0.1, 0.2, 10), (0.9, 0.8, 1000)], title="t"))
    small, large = (float(dot.get("r", "0")) for dot in root.iter(f"{SVG}circle"))
    assert small < large == pytest.approx(12)
    assert "1,000 links: confidence 0.900, right 0.800" in [title.text for title in root.iter(f"{SVG}title")]
