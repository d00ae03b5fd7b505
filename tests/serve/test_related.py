"""How much entities have to do with each other, over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from parlink.kb import KnowledgeBase
from parlink.linking.linker import Linker
from parlink.serve import related
from tiny_kb import tiny_folder
from tiny_model import tiny_checkpoint
from tiny_server import running

PAGES = [
    {"title": "Counties", "links": ["Kent", "Zürich"]},
    {"title": "Cricket", "links": ["Kent", "Kent County Cricket Club"]},
    {"title": "Clubs", "links": ["Kent County Cricket Club", "Hamburger SV"]},
]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    links = tmp_path / "links.jsonl"
    links.write_text("".join(f"{json.dumps(page)}\n" for page in PAGES))
    kb = KnowledgeBase.open(tiny_folder(tmp_path / "kb", links=[links]))
    linker = Linker(tiny_checkpoint(seed=3, spread=2.0), kb=kb, source=kb)
    with running(linker) as address, httpx.Client(base_url=address, timeout=30) as client:
        yield client


def test_titles_are_related_by_the_pages_that_link_to_both(client: httpx.Client) -> None:
    titles = ["Kent", "Kent County Cricket Club", "Hamburger SV", "Nobody"]
    rows = client.post("/v1/related", json={"titles": titles}).raise_for_status().json()["related"]
    assert [row[number] for number, row in enumerate(rows)] == [1.0] * 4
    assert rows[0][1] == rows[1][0] > 0 and rows[1][2] > 0
    assert rows[0][2] == rows[0][3] == 0
    assert client.post("/v1/related", json={"titles": []}).json() == {"related": []}


@pytest.mark.parametrize(
    "body", [{}, [], {"titles": "Kent"}, {"titles": [5]}, {"titles": [""]}, {"titles": ["a"] * (related.MOST + 1)}]
)
def test_what_are_no_titles_is_refused_in_words(client: httpx.Client, body: Any) -> None:
    answer = client.post("/v1/related", json=body)
    assert answer.status_code == 422 and answer.json()["error"].startswith("the titles: ")


def test_a_title_that_no_entity_may_have_is_refused(client: httpx.Client) -> None:
    assert client.post("/v1/related", json={"titles": ["A" * 501]}).status_code == 422


def test_without_a_knowledge_base_there_is_nothing_to_ask() -> None:
    with running(Linker(tiny_checkpoint(seed=3))) as address:
        assert httpx.post(f"{address}v1/related", json=related.QUESTION).status_code == 404
