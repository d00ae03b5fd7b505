"""ELEVANT: benchmark and prediction files, lossless both ways."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents import documents
from parlink.data.formats import elevant
from parlink.errors import DataFormatError
from parlink.types import Candidate, Document, Link, Span

LABEL = {"parent": None, "children": [], "optional": False, "type": "Q515"}
ARTICLE: dict[str, Any] = {
    "id": 4,
    "title": "Two towns",
    "text": "Bergen and Voss.",
    "evaluation_span": [0, 10],
    "labels": [
        {"id": 0, "span": [0, 6], "entity_id": "Q26793", "name": "Bergen", **LABEL},
        {"id": 1, "span": [11, 15], "entity_id": "<NIL>", "name": "Unknown", **LABEL, "parent": 0},
    ],
    "entity_mentions": [
        {"span": [0, 6], "recognized_by": "R", "id": "Q1", "linked_by": "parlink", "candidates": ["Q1", "Q2"]}
    ],
}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@settings(max_examples=50)
@given(
    st.lists(documents(extras=st.none() | st.booleans() | st.integers(0, 3) | st.text(max_size=3)), max_size=3),
    st.sampled_from(["labels", "entity_mentions"]),
)
def test_documents_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, docs: list[Document], part: elevant.Part
) -> None:
    path = tmp_path_factory.mktemp("elevant") / "a.jsonl"
    elevant.write(path, docs, part=part)
    assert list(elevant.read(path, part=part)) == docs
    assert list(elevant.read(path)) == docs


def test_a_benchmark_file(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    path.write_text(json.dumps(ARTICLE) + "\n")
    (doc,) = elevant.read(path)
    assert (doc.id, doc.text) == ("4", "Bergen and Voss.")
    assert doc.links == (
        Link(Span(0, 6), "Bergen", "Q26793", type="Q515"),
        Link(Span(11, 15), type="Q515", extra={"parent": 0}),
    )
    assert doc.extra["title"] == "Two towns"
    assert doc.extra["evaluation_span"] == [0, 10]
    elevant.write(tmp_path / "again.jsonl", [doc])
    assert lines(tmp_path / "again.jsonl") == [ARTICLE]


def test_predictions(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps(ARTICLE) + "\n")
    (doc,) = elevant.read(path, part="entity_mentions", resolve={"Q1": "Bergen", "Q2": "Bergen, Ontario"}.get)
    assert doc.links == (
        Link(Span(0, 6), "Bergen", "Q1", candidates=(Candidate("Q1"), Candidate("Q2")), extra={"recognized_by": "R"}),
    )


BROKEN = ["[]", "{}", "{", '{"text": 1, "labels": []}', '{"text": "a", "labels": [{}]}']
BROKEN += ['{"text": "a", "labels": [{"span": 3}]}', '{"text": "a", "labels": [{"span": [0, 2]}]}']


@pytest.mark.parametrize("line", BROKEN)
def test_broken_lines(tmp_path: Path, line: str) -> None:
    path = tmp_path / "b.jsonl"
    path.write_text(json.dumps(ARTICLE) + "\n" + line + "\n")
    with pytest.raises(DataFormatError, match=r"b\.jsonl:2: "):
        list(elevant.read(path))
