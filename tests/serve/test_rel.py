from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from parlink.linking.linker import Linker
from parlink.serve import rel
from parlink.serve.settings import Settings
from parlink.types import Document, Link, Span
from tiny_server import running

TEXT = "Kent 😀 beat Hamburg & Zürich."


@pytest.fixture(scope="module")
def client(linker: Linker) -> Iterator[httpx.Client]:
    with running(linker, max_spans=10) as address, httpx.Client(base_url=address, timeout=30) as client:
        yield client


@pytest.mark.parametrize("path", ["/rel", "/rel/ne", "/rel/"])
@pytest.mark.parametrize("spans", [[[12, 7], [0, 4]], [{"start": 12, "length": 7}, {"start": 0, "length": 4}]])
def test_given_mentions_are_disambiguated_and_the_rows_are_those_of_rel(
    linker: Linker, client: httpx.Client, path: str, spans: Any
) -> None:
    answer = client.post(path, json={"text": TEXT, "spans": spans, "tagger": "ner-fast"}, follow_redirects=True)
    linked = linker.link(Document(TEXT, spans=(Span(12, 19), Span(0, 4))))
    wanted = [(link.span.start, link.title.replace(" ", "_")) for link in linked.links if link.title]
    rows = answer.raise_for_status().json()
    assert [(start, title) for start, _, _, title, _, _, _ in rows] == wanted
    for start, length, mention, _, confidence, mention_confidence, tag in rows:
        assert TEXT[start : start + length] == mention
        assert 0 <= confidence <= 1
        assert mention_confidence == 0.0
        assert tag == "NULL"


@pytest.mark.parametrize("body", [{"text": TEXT}, {"text": TEXT, "spans": []}, {"text": TEXT, "spans": None}])
def test_without_spans_mentions_are_detected(linker: Linker, client: httpx.Client, body: Any) -> None:
    rows = client.post("/rel", json=body).raise_for_status().json()
    wanted = [link.span.start for link in linker.link(TEXT).links if link.title is not None]
    assert [start for start, *_ in rows] == wanted


def test_the_example_of_rels_readme_and_an_empty_text_are_answered(client: httpx.Client) -> None:
    text = "If you're going to try, go all the way - Charles Bukowski"
    assert isinstance(client.post("/rel", json={"text": text, "spans": [(41, 16)]}).raise_for_status().json(), list)
    assert client.post("/rel", json={"text": "", "spans": []}).raise_for_status().json() == []


def test_the_status_is_that_of_rel(client: httpx.Client) -> None:
    status = {"schemaVersion": 1, "label": "status", "message": "up", "color": "green"}
    assert client.get("/rel").json() == status


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"spans": []}, 422, "text"),
        ({"text": "Kent", "spans": [[0, 5]]}, 422, "within a text of 4 characters"),
        ({"text": "Kent", "spans": [[0]]}, 422, "[start, length]"),
        ({"text": "Kent", "spans": [[1, 0]]}, 422, "[start, length]"),
        ({"text": "Kent", "spans": [[0, 1]] * 11}, 413, "more than 10 spans"),
        (["Kent"], 422, "object"),
        ({"text": "Kent", "mode": "ED"}, 422, "mode"),
    ],
    ids=repr,
)
def test_bad_bodies_are_refused_in_words(client: httpx.Client, body: Any, status: int, message: str) -> None:
    answer = client.post("/rel", json=body)
    assert (answer.status_code, message in answer.json()["error"]) == (status, True), answer.text


@pytest.mark.parametrize("path", ["/rel", "/rel/ne"])
def test_options_of_linking_are_heard_and_other_parameters_refused(client: httpx.Client, path: str) -> None:
    body = {"text": TEXT, "spans": [[12, 7], [0, 4]]}
    assert client.post(path, json=body).json()
    assert client.post(f"{path}?min_confidence=1", json=body).raise_for_status().json() == []
    answer = client.post(f"{path}?confidence=true", json=body)
    assert (answer.status_code, "confidence: there is no such" in answer.json()["error"]) == (422, True)


def test_offsets_count_an_ampersand_as_rel_does_and_nil_is_left_out() -> None:
    doc = rel.parse_question({"text": "A &amp; B", "spans": [[4.0, 1]]}, Settings())
    assert (doc.text, doc.spans) == ("A & B", (Span(4, 5),))
    links = (
        Link(Span(0, 1)),
        Link(Span(4, 5), title="New B", confidence=0.50001, mention_probability=0.25, type="person"),
    )
    answered = Document(doc.text, links=links)
    assert rel.shape_answer(answered) == [(4, 1, "B", "New_B", 0.5, 0.25, "person")]
