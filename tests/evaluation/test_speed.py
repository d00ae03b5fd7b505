"""Speeds are measured in processes of their own, and laid out side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from parlink.checkpoint.folder import save_checkpoint
from parlink.evaluation.report.speed_table import compare, to_svg, to_table
from parlink.evaluation.speed import Speed, Way, compare_precisions, extrapolate, peak_memory, run_alone
from parlink.load_options import LoadOptions
from parlink.types import Document
from tiny_model import tiny_checkpoint

SLOW = Speed("plain <1>", Way.SINGLY, documents=4, tokens=400, wall=8.0, cpu=7.5, peak=512.0)
FAST = replace(SLOW, name="ours", wall=0.5, note="half of it guessed")
OTHER = replace(SLOW, way=Way.BATCHES, wall=4.0)


def test_each_is_compared_with_the_first_of_its_way() -> None:
    assert compare([SLOW, FAST, OTHER]) == [1.0, 16.0, 1.0]


def test_the_table_has_a_row_each_and_the_notes() -> None:
    lines = to_table([SLOW, FAST]).splitlines()
    assert lines[2] == "| plain <1> | one at a time | 8 | 7.5 | 50 | 0.5 | 512 | 1 |"
    assert lines[3] == "| ours * | one at a time | 0.5 | 7.5 | 800 | 8 | 512 | 16 |"
    assert lines[-1] == "ours: half of it guessed"
    assert to_table([SLOW, replace(FAST, batch_tokens=2048)]).endswith("\n\nin batches of 2,048 tokens")


def test_the_picture_has_a_bar_for_each_of_a_way() -> None:
    drawn = to_svg([SLOW, FAST, OTHER], title="Speed")
    assert drawn.count("<rect") == 2
    assert "plain &lt;1&gt;" in drawn and "16 x" in drawn


def test_a_part_stands_for_the_whole() -> None:
    whole = extrapolate(SLOW, 2.5, note="a part")
    assert (whole.wall, whole.cpu, whole.note) == (20.0, 18.75, "a part")


def test_memory_of_a_new_process_is_its_own() -> None:
    ballast = bytearray(400_000_000)
    assert peak_memory() > 400
    assert run_alone(peak_memory) < 400
    assert len(ballast) == 400_000_000


def test_a_model_is_measured_in_each_way(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "model", tiny_checkpoint(), card="")
    loads = [LoadOptions(precision="float32")]
    speeds = list(compare_precisions([Document("Kent beat HSV.")] * 3, model=tmp_path / "model", loads=loads))
    assert [(speed.name, speed.way) for speed in speeds] == [("float32", way) for way in Way]
    assert all(speed.documents == 3 and speed.cpu > 0 and speed.peak > 10 for speed in speeds)
    assert speeds[0].tokens == pytest.approx(speeds[1].tokens)
