"""Files as others write them, in every format; formats detected; `parlink data convert`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from parlink.cli.data import app
from parlink.data import formats, jsonl
from parlink.data.formats import brat, conll, mentions, nif, zelda
from parlink.errors import DataFormatError, ParlinkError
from parlink.types import Document, Link, Span

TURTLE = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
<http://x.y/2#char=4,8> a nif:Phrase, nif:RFC5147String ; nif:anchorOf '''Voss''' ;
  nif:beginIndex 4 ; nif:endIndex 8 ; nif:referenceContext <http://x.y/2#char=0,9> ;
  itsrdf:taIdentRef <http://aksw.org/notInWiki/Voss> .
<http://x.y/1#char=0,6> a nif:Context ; nif:isString "Bergen" ; itsrdf:taIdentRef <http://dbpedia.org/resource/Bergen> ;
  nif:beginIndex "0" ; nif:endIndex "6" .
<http://x.y/2#char=0,3> a nif:Sentence ; nif:referenceContext <http://x.y/2#char=0,9> .
<http://x.y/2#char=0,9> a nif:Context ; nif:isString "See Voss."@en ; nif:predominantLanguage <http://l.o/eng> .
"""


def test_other_forms_of_rdf_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ParlinkError, match=r"writes NIF as Turtle; give a name that ends in \.ttl"):
        formats.output_format_of(tmp_path / "gold.nt")


@pytest.mark.parametrize("name", ["a.xyz", "a.xyz.gz", "a.pdf"])
def test_an_ending_that_nobody_knows_is_not_written(tmp_path: Path, name: str) -> None:
    jsonl.write(tmp_path / "a.jsonl", [Document("a")])
    with pytest.raises(ParlinkError, match=r"cannot tell the format of '\.\w+'; wanted .*\.jsonl"):
        formats.convert(tmp_path / "a.jsonl", tmp_path / name)
    assert not (tmp_path / name).exists()


def test_nif_in_any_order(tmp_path: Path) -> None:
    path = tmp_path / "d.ttl"
    path.write_text(TURTLE)
    assert list(nif.read(path)) == [
        Document("Bergen", "http://x.y/1", (Link(Span(0, 6), "Bergen", url="http://dbpedia.org/resource/Bergen"),)),
        Document("See Voss.", "http://x.y/2", (Link(Span(4, 8)),)),
    ]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("nif:endIndex 8", "nif:endIndex 80", "ends at 80"),
        ("nif:endIndex 8", "nif:endIndex 4", "start < end"),
        ("nif:beginIndex 4 ;", "", "nif:beginIndex"),
        ('nif:isString "See Voss."@en', "nif:x 1", "no nif:isString"),
        ("a nif:Context ;", "a nif:Context ; ; [", r"d\.ttl:\d+: not valid RDF"),
    ],
)
def test_broken_nif(tmp_path: Path, old: str, new: str, says: str) -> None:
    path = tmp_path / "d.ttl"
    path.write_text(TURTLE.replace(old, new))
    with pytest.raises(DataFormatError, match=says):
        list(nif.read(path))


def test_nif_counts_anchors_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "d.ttl"
    path.write_text(TURTLE.replace("'''Voss'''", '"Vos"'))
    losses: Counter[str] = Counter()
    list(nif.read(path, losses=losses))
    assert sum(losses.values()) == 1


AIDA = (
    "-DOCSTART- (1 Sea)\nNorth\tB\tNorth Sea\tNorth_Sea\thttp://en.wikipedia.org/wiki/North_Sea\t21179\t/m/05cgy\n"
    "Sea\tI\tNorth Sea\tNorth_Sea\thttp://en.wikipedia.org/wiki/North_Sea\t21179\t/m/05cgy\nand\n\n"
    "Odda\tB\tOdda\t--NME--\nVoss\tB\tVoss\tM\\u00f8re\n.\tO\n\n-DOCSTART- (2)\n"
)


def test_aida_as_published(tmp_path: Path) -> None:
    path = tmp_path / "d.tsv"
    path.write_text(AIDA)
    links = (Link(Span(0, 9), "North Sea"), Link(Span(14, 18)), Link(Span(19, 23), "Møre"))
    assert list(conll.read(path)) == [Document("North Sea and Odda Voss .", "1 Sea", links), Document("", "2")]


@pytest.mark.parametrize("line", ["word", "-DOCSTART- (x)\na\tB", "-DOCSTART- (x)\na\tX\tb\tc", "-DOCSTART- (x)\na b"])
def test_broken_aida(tmp_path: Path, line: str) -> None:
    path = tmp_path / "d.tsv"
    path.write_text(line + "\n")
    with pytest.raises(DataFormatError, match=r"d\.tsv:[12]: "):
        list(conll.read(path))


ANN = """T1\tPerson 0 4\tAnna
T2\tTown 9 13;14 18\tVoss town
N1\tReference T2 UMLS:C01\tVoss, the town
R1\tlives Arg1:T1 Arg2:T2
#1\tAnnotatorNotes T1\tsure?
"""


def test_brat_as_annotators_leave_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Anna saw Voss town")
    (tmp_path / "a.ann").write_text(ANN)
    (tmp_path / "b.txt").write_text("no annotations")
    losses: Counter[str] = Counter()
    anna = Link(Span(0, 4), type="Person")
    voss = Link(Span(9, 18), "Voss, the town", "C01", type="Town")
    expected = [Document("Anna saw Voss town", "a", (anna, voss)), Document("no annotations", "b")]
    assert list(brat.read(tmp_path, losses=losses)) == expected
    assert sum(losses.values()) == 3
    assert list(brat.read(tmp_path / "a.ann")) == expected[:1]


@pytest.mark.parametrize("line", ["T1\tPerson 0 40\tAnna", "T1\tPerson 2 2\t", "T1 Person", "N1\tReference"])
def test_broken_brat(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.txt").write_text("Anna")
    (tmp_path / "a.ann").write_text(line + "\n")
    with pytest.raises(DataFormatError, match=r"a\.ann:1: "):
        list(brat.read(tmp_path))


MENTIONS = {
    "id": "3",
    "text": "Lady Gaga met Anna in Rome",
    "mentions": [
        {"start": 0, "end": 9, "text": "Lady Gaga", "entity": "Lady_Gaga", "wikipedia_id": 5},
        {"start": 14, "end": 18, "text": "Anna", "entity": None},
        {"start": 22, "end": 26, "text": "Roma", "qid": "Q220", "name": "Rome", "type": "LOC"},
    ],
}


def test_mentions(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text(json.dumps(MENTIONS))
    losses: Counter[str] = Counter()
    (doc,) = mentions.read(path, losses=losses)
    assert doc.links == (
        Link(Span(0, 9), "Lady Gaga", extra={"wikipedia_id": 5}),
        Link(Span(14, 18)),
        Link(Span(22, 26), "Rome", "Q220", type="LOC"),
    )
    assert sum(losses.values()) == 1
    (doc,) = mentions.read(path, resolve={"Lady Gaga": "Gaga"}.get, losses=losses)
    assert [link.title for link in doc.links] == ["Gaga", None, "Q220"]
    assert (doc.links[2].type, doc.links[2].extra) == ("LOC", {"name": "Rome"})


def test_zelda(tmp_path: Path) -> None:
    path = tmp_path / "z.jsonl"
    line = {"id": 7, "text": "Oslo", "index": [[0, 4]], "wikipedia_titles": ["Oslo"], "wikipedia_ids": [22309]}
    path.write_text(json.dumps(line))
    assert list(zelda.read(path)) == [Document("Oslo", "7", (Link(Span(0, 4), "Oslo", extra={"wikipedia_id": 22309}),))]
    for broken in ({**line, "index": []}, {**line, "index": [[0, 9]]}, {**line, "text": None}):
        path.write_text(json.dumps(broken))
        with pytest.raises(DataFormatError, match=r"z\.jsonl:1: "):
            list(zelda.read(path))


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a.ttl", "", "nif"),
        ("a.ttl.gz", "", "nif"),
        ("a.tsv", "-DOCSTART- (1)", "aida"),
        ("a.tsv", "text\tid", "tsv"),
        ("a.csv", "", "csv"),
        ("a.txt", "hello", "text"),
        ("a.parquet", "", "parquet"),
        ("a.spacy", "", "docbin"),
        ("a.json", '\n [ {"text": "x"}]', "json"),
        ("a.json", "[]", "json"),
        ("a.jsonl", '{"text": "x"}', "jsonl"),
        ("a.tsv.jsonl", '{"text": "x"}', "jsonl"),
        ("a.jsonl", '{"text": ', "jsonl"),
        ("a.json", json.dumps(MENTIONS), "mentions"),
        ("a.jsonl", '{"text": "x", "labels": []}', "elevant"),
        ("a.jsonl", '{"text": "x", "entity_mentions": []}', "elevant-predictions"),
        ("a.jsonl", '{"text": "x", "index": [], "wikipedia_titles": []}', "zelda"),
    ],
)
def test_a_format_is_detected(tmp_path: Path, name: str, content: str, found: str) -> None:
    (tmp_path / name).write_text(content)
    assert formats.format_of(tmp_path / name) == found
    assert formats.format_of(tmp_path) == found
    (tmp_path / "a.ann").write_text("")
    assert formats.format_of(tmp_path) == "brat"


def test_what_cannot_be_told(tmp_path: Path) -> None:
    for content, says in (("", "empty"), ("hello", "--from")):
        (tmp_path / "a.log").write_text(content)
        with pytest.raises(DataFormatError, match=says):
            formats.format_of(tmp_path / "a.log")
    with pytest.raises(ParlinkError, match="no format 'xml'"):
        formats.read(tmp_path, "xml")


def test_command(tmp_path: Path) -> None:
    doc = Document("Oslo", "1", (Link(Span(0, 4), "Oslo", confidence=0.5, reason="r"),))
    jsonl.write(tmp_path / "a.jsonl", [doc])
    result = CliRunner().invoke(app, ["convert", str(tmp_path / "a.jsonl"), "-o", str(tmp_path / "a.ttl")])
    assert result.exit_code == 0, result.output
    assert "cannot hold reason of a link (1 times)" in result.output
    result = CliRunner().invoke(app, ["convert", str(tmp_path / "a.ttl"), "-o", str(tmp_path / "b"), "--to", "elevant"])
    assert result.exit_code == 0, result.output
    again = formats.read(tmp_path / "b", "elevant")
    assert [link.confidence for link in next(again).links] == [0.5]


@pytest.mark.parametrize("name", ["a.jsonl", "a.ttl", "a.tsv"])
def test_an_empty_file_is_not_converted(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")
    with pytest.raises(DataFormatError, match=r"empty|no document"):
        formats.convert(tmp_path / name, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_fields_that_are_set_but_empty_are_losses_too(tmp_path: Path) -> None:
    jsonl.write(tmp_path / "a.jsonl", [Document("Oslo", "1", spans=(), error="")])
    losses = formats.convert(tmp_path / "a.jsonl", tmp_path / "a.ttl")
    assert losses == {"spans of a document": 1, "error of a document": 1}


def test_jsonl_titles_go_through_the_kb(tmp_path: Path) -> None:
    links = (Link(Span(0, 4), "Kristiania"), Link(Span(0, 2), "Os"), Link(Span(1, 2)), Link(Span(1, 3), id="Q585"))
    jsonl.write(tmp_path / "a.jsonl", [Document("Oslo", "1", links)])
    losses = formats.convert(
        tmp_path / "a.jsonl", tmp_path / "b.jsonl", resolve={"Kristiania": "Oslo", "Q585": "Oslo"}.get
    )
    (doc,) = jsonl.read(tmp_path / "b.jsonl")
    assert [link.title for link in doc.links] == ["Oslo", "Os", None, "Oslo"]
    assert sum(losses.values()) == 1
