from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from typing import Any

import httpx
import msgspec
import pytest

from parlink.config import LinkOptions
from parlink.data import jsonl
from parlink.data.brief import keep_top
from parlink.linking.linker import Linker
from parlink.serve import schemas
from parlink.types import Candidate, Document, Span
from tiny_model import tiny_checkpoint
from tiny_server import running

TEXT = "Kent 😀 beat Hamburg, and Zürich drew."
LIMITS: dict[str, Any] = {"body_bytes": 20_000, "text_characters": 1_000, "waiting": 20, "max_spans": 50}


@pytest.fixture(scope="module")
def client(linker: Linker) -> Iterator[httpx.Client]:
    with running(linker, **LIMITS) as address, httpx.Client(base_url=address, timeout=30) as client:
        yield client


def close(one: Any, other: Any) -> bool:
    """Whether two answers are equal, numbers nearly: a batch adds in another order."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(close(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(close, one, other))
    return bool(one == pytest.approx(other, abs=1e-4) if isinstance(one, float) else one == other)


def test_one_document_comes_back_with_the_links_that_the_linker_gives(linker: Linker, client: httpx.Client) -> None:
    body = {"id": "7", "text": TEXT, "source": {"page": 3}}
    answer = client.post("/v1/link?mention_threshold=-10", json=body).raise_for_status()
    own = linker.link(jsonl.from_json(body), options=LinkOptions(mention_threshold=-10))
    wanted = jsonl.to_json(keep_top(own, 5))
    assert close(answer.json(), wanted)
    assert answer.json()["source"] == {"page": 3}
    assert answer.headers["content-type"] == "application/json"


def test_the_tuned_values_give_the_default_answer(linker: Linker, client: httpx.Client) -> None:
    model = client.get("/v1/model").raise_for_status().json()
    assert model == {
        "mention_threshold": linker.tuned.mention_threshold,
        "score_threshold": None,
        "min_confidence": 0.0,
        "fallback": False,
        "weights": msgspec.to_builtins(linker.tuned.weights),
        "kb": linker.kb and linker.kb.name,
        "allow_edits": False,
    }
    usual, asked = (
        client.post(f"/v1/link{query}", json={"text": TEXT}).json()
        for query in ("", f"?mention_threshold={model['mention_threshold']}")
    )
    assert close(usual, asked)


def numbers_of(value: Any) -> list[float]:
    """All floats of an answer."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [number for item in items for number in numbers_of(item)] + ([value] if isinstance(value, float) else [])


def test_an_answer_is_brief_unless_more_is_asked_for(client: httpx.Client) -> None:
    def candidates(query: str) -> list[int]:
        doc = client.post(f"/v1/link?mention_threshold=-10{query}", json=body).raise_for_status().json()
        numbers = numbers_of(doc["links"])
        assert numbers == [round(number, 4) for number in numbers]
        assert doc["source"] == {"page": 0.123456789}
        return [len(link.get("candidates", ())) for link in doc["links"]]

    body = {"text": TEXT, "source": {"page": 0.123456789}}
    every = candidates("&top=30&search=beam&fallback=true&beams=10")
    assert max(every) > 5
    assert candidates("&search=beam&fallback=true&beams=10") == [min(count, 5) for count in every]
    assert set(candidates("&top=0")) == {0}


def test_a_service_links_as_it_was_told_unless_a_request_says_otherwise(linker: Linker) -> None:
    told = LinkOptions(mention_threshold=-10.0, min_confidence=0.625, document_names=True)
    with running(linker, options=told) as address, httpx.Client(base_url=address, timeout=30) as client:
        own = jsonl.to_json(keep_top(linker.link(TEXT, options=told), 5))
        assert close(client.post("/v1/link", json={"text": TEXT}).json()["links"], own["links"])
        assert not client.post("/v1/link?mention_threshold=1000", json={"text": TEXT}).json()["links"]
        model = client.get("/v1/model").json()
        assert (model["mention_threshold"], model["min_confidence"]) == (-10, 0.625)
        parameters = client.get("/openapi.json").json()["paths"]["/v1/link"]["post"]["parameters"]
        described = {each["name"]: each for each in parameters}
        defaults = {name: described[name]["schema"]["default"] for name in ("min_confidence", "document_names")}
        assert defaults == {"min_confidence": 0.625, "document_names": "true"}
        assert "default" not in described["fallback"]["schema"]
        assert described["fallback"]["description"].endswith("Default: the value tuned for the model.")


def test_a_list_comes_back_in_order_n_for_n(client: httpx.Client) -> None:
    texts = ["Kent won.", "", TEXT, "Kent won."]
    answer = client.post("/v1/link", json=[{"text": text} for text in texts]).raise_for_status().json()
    assert [doc["text"] for doc in answer] == texts
    assert all("links" in doc for doc in answer)
    assert client.post("/v1/link", json=[]).json() == []


def test_given_spans_are_only_disambiguated(linker: Linker, client: httpx.Client) -> None:
    start = TEXT.index("Hamburg")
    spans = [{"start": start, "end": start + 7}, {"start": 0, "end": 4}]
    doc = client.post("/v1/link", json={"text": TEXT, "spans": spans}).raise_for_status().json()
    assert [(link["start"], link["end"]) for link in doc["links"]] == [(start, start + 7), (0, 4)]
    own = linker.link(Document(TEXT, spans=(Span(start, start + 7), Span(0, 4))))
    assert [link["title"] for link in doc["links"]] == [link.title for link in own.links]
    pairs = client.post("/v1/link", json={"text": TEXT, "spans": [[start, start + 7.0], [0, 4]]}).json()
    assert close(pairs["links"], doc["links"])


def test_an_answer_can_be_sent_again(client: httpx.Client) -> None:
    first = client.post(
        "/v1/link?mention_threshold=-10", json={"text": TEXT, "error": "of yesterday", "kb": "another"}
    ).json()
    assert "error" not in first
    again = client.post("/v1/link?mention_threshold=-10", json=first).raise_for_status().json()
    assert [(link["start"], link["title"]) for link in again["links"]] == [
        (link["start"], link["title"]) for link in first["links"]
    ]


@pytest.mark.parametrize("example", [schemas.DOCUMENT, schemas.GIVEN, [schemas.DOCUMENT]], ids=repr)
def test_the_examples_of_the_description_work(client: httpx.Client, example: Any) -> None:
    client.post("/v1/link", json=example).raise_for_status()


def post(client: httpx.Client, content: Any, kind: str = "application/json", **headers: str) -> httpx.Response:
    return client.post("/v1/link", content=content, headers={"content-type": kind, **headers})


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [
        ("{", 400, "not JSON"),
        (b'{"text": "\xff"}', 400, "not JSON"),
        ("[" * 10_000, 400, "not JSON"),
        ('{"text": "\\ud800"}', 400, "not JSON"),
        ('{"txt": "Kent"}', 422, "the document: the document has no text"),
        ('[{"text": "Kent"}, {"text": 3}]', 422, "document 1: the document: text must be a string"),
        ('"Kent"', 422, "must be a JSON object"),
        ('{"text": "Kent", "spans": [[0, 5]]}', 422, "a text of 4 characters"),
        ('{"text": "Kent", "spans": [[0, 1.5]]}', 422, "integers"),
        ('{"text": "Kent", "links": [{"start": 0, "end": 1, "score": 1%s}]}' % ("0" * 400), 422, "must be a number"),
        (
            '{"text": "K", "links": [{"start": 0, "end": 1, "candidates": [{"title": "K", "prior": 1e308}]}]}',
            422,
            "prior",
        ),
        ('{"text": "K", "links": [{"start": 0, "end": 1, "candidates": [{"title": " "}]}]}', 422, "empty title"),
        (
            '{"text": "K", "links": [{"start": 0, "end": 1, "candidates": [{"title": "%s"}]}]}' % ("K" * 501),
            413,
            "501 characters; at most 500",
        ),
        (json.dumps({"text": "a", "spans": [[0, 1]] * 51}), 413, "more than 50 spans"),
        (json.dumps({"text": "a" * 1_001}), 413, "the document: the text has 1,001 characters; at most 1,000"),
        (json.dumps([{"text": "a"}] * 21), 413, "21 documents; send at most 20"),
        (json.dumps({"text": "a", "note": "a" * 20_000}), 413, "more than 20000 bytes"),
        (iter([b"[" * 15_000] * 2), 413, "more than 20000 bytes"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_bodies_are_refused_in_words(client: httpx.Client, content: Any, status: int, message: str) -> None:
    answer = post(client, content)
    assert (answer.status_code, message in answer.json()["error"]) == (status, True), answer.text


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/json; charset=latin-1"]
)
def test_other_content_types_are_refused(client: httpx.Client, kind: str) -> None:
    assert post(client, '{"text": "Kent"}', kind).status_code == 415


def test_a_charset_may_be_named_and_compression_is_refused(client: httpx.Client) -> None:
    assert post(client, '{"text": "Kent"}', 'Application/JSON; charset="UTF-8"').status_code == 200
    assert post(client, gzip.compress(b'{"text": "Kent"}'), **{"content-encoding": "gzip"}).status_code == 415


@pytest.mark.parametrize(
    "query",
    [
        "thresold=1",
        "beams=0",
        "beams=21",
        "mention_threshold=inf",
        "mention_threshold=x",
        "mention_threshold=-10.1",
        "max_candidates=101",
        "min_confidence=2",
        "search=best",
        "fallback=1",
        "top=-1",
    ],
)
def test_a_wrong_parameter_is_named(client: httpx.Client, query: str) -> None:
    answer = client.post(f"/v1/link?{query}", json={"text": TEXT})
    assert answer.status_code == 422
    assert query.partition("=")[0] in answer.json()["error"]


def test_options_reach_the_linker(client: httpx.Client) -> None:
    def count(query: str) -> int:
        return len(client.post(f"/v1/link?{query}", json={"text": TEXT}).raise_for_status().json()["links"])

    assert count("mention_threshold=1000") == 0
    assert count("mention_threshold=-10&overlaps=keep") > count("mention_threshold=-10")
    client.post("/v1/link?search=beam&beams=3&fallback=true&max_candidates=2", json={"text": TEXT}).raise_for_status()


def test_health_readiness_and_metrics(client: httpx.Client) -> None:
    client.post("/v1/link", json={"text": TEXT})
    assert client.get("/healthz").json() == {"status": "alive"}
    ready = {"status": "ready", "waiting_documents": 0, "running_seconds": 0.0}
    assert client.get("/readyz").json() == ready
    lines = client.get("/metrics").text.splitlines()
    assert any(line.startswith('parlink_requests_total{method="POST",path="/v1/link",status="200"}') for line in lines)
    assert "parlink_waiting_documents 0.0" in lines
    for name in ("parlink_batch_documents_count", "parlink_request_seconds_bucket", "process_resident_memory_bytes"):
        assert any(line.startswith(name) for line in lines), name


def test_a_refusal_reads_the_rest_of_a_small_body_and_keeps_the_connection(client: httpx.Client) -> None:
    for _ in range(20):  # a server that hangs up on unread data loses some of its answers
        answer = post(client, '{"text": "Kent"}', "text/plain")
        assert answer.status_code == 415
        assert "connection" not in answer.headers


def test_other_methods_are_refused_with_those_that_are_allowed(client: httpx.Client) -> None:
    answer = client.put("/v1/entities")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST, DELETE, HEAD")
    assert client.get("/v1/link").headers["allow"] == "POST"
    assert "/v1/link does not take GET; it takes POST" in client.get("/v1/link").json()["error"]
    nowhere = client.get("/nowhere")
    assert (nowhere.status_code, nowhere.json()) == (
        404,
        {"error": "there is no /nowhere here; the routes stand at /docs"},
    )
    assert client.post("/static/nowhere.js").status_code == 405
    assert "/static/nowhere.js" in client.get("/static/nowhere.js").json()["error"]


def test_an_unknown_parameter_is_refused_in_words(client: httpx.Client) -> None:
    answer = client.post("/v1/link?thresold=1&beams=2", json={"text": TEXT})
    wanted = "parameters: thresold: there is no such parameter here; those that there are stand at /docs"
    assert (answer.status_code, answer.json()) == (422, {"error": wanted})


def test_the_description_names_every_limit_and_has_examples(client: httpx.Client) -> None:
    description = client.get("/openapi.json").json()
    document = description["components"]["schemas"]["Question"]
    assert document["properties"]["text"]["maxLength"] == 1_000
    assert document["properties"]["spans"]["maxItems"] == 50
    parameters = {each["name"]: each["schema"] for each in description["paths"]["/v1/link"]["post"]["parameters"]}
    assert (parameters["beams"]["maximum"], parameters["max_candidates"]["maximum"]) == (20, 100)
    assert (parameters["min_confidence"]["minimum"], parameters["mention_threshold"]["minimum"]) == (0, -10)
    confidence = description["components"]["schemas"]["Link"]["properties"]["confidence"]
    assert confidence["description"] == "Probability that the link is correct."
    (title,) = description["paths"]["/v1/entities"]["get"]["parameters"]
    assert title["schema"]["maxLength"] == 500
    for path, method in (("/v1/link", "post"), ("/nif", "post"), ("/v1/entities", "post")):
        bodies = description["paths"][path][method]["requestBody"]["content"].values()
        assert all(body["examples"] for body in bodies)


def test_the_page_is_served(client: httpx.Client) -> None:
    answer = client.get("/")
    assert answer.headers["content-type"].startswith("text/html")
    assert "<title>parlink</title>" in answer.text
    assert client.get("/static/../app.py").status_code == 404
    assert client.get("/static/%2e%2e/app.py").status_code == 404


class BrokenTable:
    """A source of candidates that fails for one surface."""

    def candidates(self, surface: str, *, limit: int) -> Sequence[Candidate]:
        if surface == "Hamburg":
            raise KeyError(surface)
        return [Candidate(surface)]


def test_a_document_that_fails_does_so_alone() -> None:
    good, bad = {"text": "Kent won.", "spans": [[0, 4]]}, {"text": "Hamburg won.", "spans": [[0, 7]]}
    broken = Linker(tiny_checkpoint(seed=3), source=BrokenTable())
    with running(broken) as address, httpx.Client(base_url=address, timeout=30) as client:
        first, second, third = client.post("/v1/link", json=[good, bad, good]).raise_for_status().json()
        assert [doc["links"][0]["title"] for doc in (first, third)] == ["Kent", "Kent"]
        assert (second["text"], second["links"], "internal error" in second["error"]) == ("Hamburg won.", [], True)
        assert client.post("/v1/link", json=bad).status_code == 500
        assert client.post("/v1/link", json=good).status_code == 200
        assert 'parlink_documents_total{outcome="failed"} 2.0' in client.get("/metrics").text
