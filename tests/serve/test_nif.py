from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import httpx
import pyoxigraph
import pytest

from parlink.config import Tuned
from parlink.data.formats import nif
from parlink.linking.linker import Linker
from parlink.serve import schemas
from parlink.types import Document, Link, Span
from tiny_kb import tiny_kb
from tiny_model import tiny_checkpoint
from tiny_server import running

GERBIL = {"content-type": "application/x-turtle", "accept": "application/x-turtle"}
TEXT = "Kent 😀 beat Hamburg."
URI = "http://gerbil.example.org/dataset/doc-7"
CONTEXT = f"""@prefix nif: <{nif.NIF}> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<{URI}#char=0,{len(TEXT)}> a nif:RFC5147String , nif:String , nif:Context ;
    nif:beginIndex "0"^^xsd:nonNegativeInteger ; nif:endIndex "{len(TEXT)}"^^xsd:nonNegativeInteger ;
    nif:isString "{TEXT}"@en .
"""
PHRASE = f"""
<{URI}#char=12,19> a nif:RFC5147String , nif:String , nif:Phrase ; nif:anchorOf "Hamburg" ;
    nif:beginIndex "12"^^xsd:nonNegativeInteger ; nif:endIndex "19"^^xsd:nonNegativeInteger ;
    nif:referenceContext <{URI}#char=0,{len(TEXT)}> .
"""


@pytest.fixture(scope="module")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    kb = tiny_kb(tmp_path_factory.mktemp("nif"))
    checkpoint = replace(tiny_checkpoint(seed=3, spread=2.0), tuned=Tuned(mention_threshold=-30.0, fallback=True))
    return Linker(checkpoint, kb=kb, source=kb)


@pytest.fixture(scope="module")
def client(linker: Linker) -> Iterator[httpx.Client]:
    with running(linker, waiting=8) as address, httpx.Client(base_url=address, timeout=30) as client:
        yield client


def ask(client: httpx.Client, turtle: str, query: str = "") -> list[Document]:
    answer = client.post(f"/nif{query}", content=turtle.encode(), headers=GERBIL).raise_for_status()
    assert answer.headers["content-type"] == "application/x-turtle; charset=utf-8"
    return nif.decode(answer.content)


def test_a_context_is_annotated_under_its_own_uri(linker: Linker, client: httpx.Client) -> None:
    answer = client.post("/nif", content=CONTEXT.encode(), headers=GERBIL).raise_for_status()
    contexts = {
        triple.subject.value
        for triple in pyoxigraph.parse(answer.content, format=pyoxigraph.RdfFormat.TURTLE)
        if triple.predicate.value == f"{nif.NIF}isString"
    }
    assert contexts == {f"{URI}#char=0,{len(TEXT)}"}
    (doc,) = nif.decode(answer.content)
    own = [link for link in linker.link(TEXT).links if link.title is not None]
    assert own
    assert (doc.text, doc.id) == (TEXT, URI)
    assert [(link.span, link.title) for link in doc.links] == [(link.span, link.title) for link in own]


def test_given_phrases_are_disambiguated_and_no_others(linker: Linker, client: httpx.Client) -> None:
    (doc,) = ask(client, CONTEXT + PHRASE)
    own = linker.link(Document(TEXT, spans=(Span(12, 19),)))
    assert own.links[0].title in ("Hamburg", "Hamburger SV")
    assert [(link.span, link.title) for link in doc.links] == [(Span(12, 19), own.links[0].title)]


def test_confidence_is_written_on_request_only(client: httpx.Client) -> None:
    plain = client.post("/nif", content=(CONTEXT + PHRASE).encode(), headers=GERBIL).text
    assert "taConfidence" not in plain
    (doc,) = ask(client, CONTEXT + PHRASE, "?confidence=true")
    score = doc.links[0].confidence
    assert score is not None
    assert 0 < score <= 1
    assert client.post("/nif?confidence=maybe", content=CONTEXT.encode(), headers=GERBIL).status_code == 422


def test_options_of_linking_are_heard_and_other_parameters_refused(client: httpx.Client) -> None:
    assert ask(client, CONTEXT)[0].links
    assert not ask(client, CONTEXT, "?mention_threshold=1000")[0].links
    assert not ask(client, CONTEXT, "?min_confidence=1")[0].links
    answer = client.post("/nif?top=3", content=CONTEXT.encode(), headers=GERBIL)
    assert (answer.status_code, "top: there is no such parameter" in answer.json()["error"]) == (422, True)


def test_a_given_phrase_without_an_entity_stays_a_phrase(client: httpx.Client) -> None:
    documents = [Document("Nobody  knows.", URI, (Link(Span(6, 8)),)), Document("Kent won.", "other")]
    first, second = ask(client, nif.encode(documents).decode())
    assert [(link.span, link.title) for link in first.links] == [(Span(6, 8), None)]
    assert (second.id, second.text) == ("other", "Kent won.")
    assert all(link.title is not None for link in second.links)


def test_the_other_name_of_turtle_is_answered_in_kind(client: httpx.Client) -> None:
    answer = client.post("/nif", content=schemas.TURTLE, headers={"content-type": "text/turtle; charset=utf-8"})
    assert answer.headers["content-type"] == "text/turtle; charset=utf-8"
    assert nif.decode(answer.content)[0].text == "Kent beat Leicester."


@pytest.mark.parametrize(
    ("turtle", "status", "message"),
    [
        ("@prefix nif", 400, "not valid RDF"),
        ("", 422, "no nif:Context"),
        ("<a:b> <a:c> <<( <a:d> <a:e> <a:f> )>> .", 422, "no nif:Context"),
        (CONTEXT + PHRASE.replace('"19"', '"99"'), 400, "ends at 99"),
        (nif.encode([Document("a", str(number)) for number in range(9)]).decode(), 413, "at most 8"),
    ],
    ids=["syntax", "empty", "triple term", "offsets", "many"],
)
def test_bad_turtle_is_refused_in_words(client: httpx.Client, turtle: str, status: int, message: str) -> None:
    answer = client.post("/nif", content=turtle.encode(), headers=GERBIL)
    assert (answer.status_code, message in answer.json()["error"]) == (status, True), answer.text


def test_json_is_not_turtle(client: httpx.Client) -> None:
    assert client.post("/nif", json={"text": TEXT}).status_code == 415
