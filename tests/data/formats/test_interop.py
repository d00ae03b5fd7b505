"""The formats of other linkers and of annotation tools, on samples of ours in their shape."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents import plain_documents
from parlink.data import formats
from parlink.data.formats import label_studio, prodigy
from parlink.errors import DataFormatError
from parlink.types import Candidate, Document, Link, Span


def write(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def read(path: Path, **options: Any) -> list[Document]:
    return list(formats.read(path, **options))


RELIK = {
    "doc_id": 3,
    "doc_text": "Voss lies east of Bergen, says Anna.",
    "doc_span_annotations": [[0, 4, "Voss"], [18, 24, "Bergen_(city)"], [31, 35, "--NME--"]],
    "doc_topic": "towns",
}


def test_relik(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", RELIK)
    assert formats.format_of(path) == "relik"
    links = (Link(Span(0, 4), "Voss"), Link(Span(18, 24), "Bergen (city)"), Link(Span(31, 35)))
    assert read(path) == [Document(RELIK["doc_text"], "3", links, extra={"doc_topic": "towns"})]
    assert read(path, resolve={"Bergen (city)": "Bergen"}.get)[0].links[1].title == "Bergen"


KILT = {
    "id": "k1",
    "input": "Rain fell on [START_ENT] Voss [END_ENT] all day .",
    "output": [{"answer": "Voss", "provenance": [{"wikipedia_id": "77", "title": "Voss"}]}],
    "meta": {"left_context": "Rain fell on", "mention": "Voss", "right_context": "all day ."},
    "candidates": ["Voss", "Voss (water)"],
}
BLINK = {
    "context_left": "Rain fell on",
    "mention": "Voss",
    "context_right": "all day.",
    "label": "Voss is a town in Norway.",
    "label_title": "Voss",
    "label_id": 5,
    "query_id": "b9",
}


def test_kilt(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", KILT, {**KILT, "output": []}, {**KILT, "input": "[START_ENT] Voss [END_ENT]"})
    assert formats.format_of(path) == "kilt"
    first, second, third = read(path)
    candidates = (Candidate("Voss"), Candidate("Voss (water)"))
    link = Link(Span(13, 17), "Voss", candidates=candidates, extra={"wikipedia_id": "77"})
    assert first == Document("Rain fell on Voss all day .", "k1", (link,))
    assert second == Document("Rain fell on Voss all day .", "k1", spans=(Span(13, 17),))
    assert (third.text, third.links[0].span) == ("Voss", Span(0, 4))


def test_blink(tmp_path: Path) -> None:
    unknown = {**BLINK, "label": "unknown", "label_id": -1, "label_title": "", "context_right": ""}
    path = write(tmp_path / "a.jsonl", BLINK, unknown)
    assert formats.format_of(path) == "blink"
    assert read(path) == [
        Document("Rain fell on Voss all day.", "b9", (Link(Span(13, 17), "Voss"),)),
        Document("Rain fell on Voss", "b9", spans=(Span(13, 17),)),
    ]


PUBTATOR = """101|t|Willow tea in mice.
101|a|Salicin cured two | mice.
101\t0\t10\tWillow tea\tChemical\tMESH:D1
101\t20\t27\tSalicin\tChemical\tMESH:D2|MESH:D3
101\t40\t44\tmice\tSpecies\t-1
101\tCID\tMESH:D1\tMESH:D2

102|t|Nothing.
102|a|
"""


def test_pubtator(tmp_path: Path) -> None:
    path = tmp_path / "a.pubtator"
    path.write_text(PUBTATOR)
    losses: Counter[str] = Counter()
    first, second = read(path, losses=losses)
    assert first.text == "Willow tea in mice. Salicin cured two | mice."
    assert [(first.text[link.span.start : link.span.end], link.title) for link in first.links] == [
        ("Willow tea", "MESH:D1"),
        ("Salicin", "MESH:D2|MESH:D3"),
        ("mice", None),
    ]
    assert second == Document("Nothing. ", "102")
    assert losses == {"PubTator relation (only mentions are read)": 1}
    assert read(path, resolve={"MESH:D1": "Willow tea"}.get)[0].links[0] == Link(
        Span(0, 10), "Willow tea", "MESH:D1", **_type("Chemical")
    )


def _type(kind: str) -> dict[str, Any]:
    return {"type": kind} if "type" in Link.__slots__ else {"extra": {"type": kind}}


@pytest.mark.parametrize(
    ("name", "format_name", "content"),
    [
        ("a.jsonl", "relik", '{"doc_text": "a", "doc_span_annotations": [[0, 1]]}'),
        ("a.jsonl", "relik", '{"doc_words": ["a"]}'),
        ("a.jsonl", "kilt", '{"input": "no marks", "output": []}'),
        ("a.jsonl", "blink", '{"context_left": "a", "mention": 5, "context_right": ""}'),
        ("a.jsonl", "blink", '{"context_left": "a", "context_right": ""}'),
        ("a.pubtator", "pubtator", "1\t0\t4\tVoss\tCity\tQ1"),
        ("a.pubtator", "pubtator", "1|t|Voss\n1\t0\t4\tVoss"),
        ("a.jsonl", "prodigy", '{"text": "a", "spans": [{}]}'),
        ("a.json", "label-studio", '[{"data": {"text": "a"}, "annotations": [{"result": [{"type": "labels"}]}]}, 5]'),
        ("a.json", "label-studio", '[{"data": {}, "annotations": []}]'),
    ],
)
def test_broken_lines_are_named(tmp_path: Path, name: str, format_name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataFormatError, match=rf"{name}:\d: "):
        read(tmp_path / name, format_name=format_name)


@settings(max_examples=40)
@given(st.lists(plain_documents(), max_size=3), st.sampled_from(["label-studio", "prodigy"]))
def test_links_come_back_from_the_tools(
    tmp_path_factory: pytest.TempPathFactory, docs: list[Document], name: str
) -> None:
    path = tmp_path_factory.mktemp("tools") / "a.json"
    losses: Counter[str] = Counter()
    formats.WRITERS[name](path, docs, losses=losses)
    again = read(path, format_name=name) if docs else docs
    assert (again == docs) == (not losses)
    assert [(doc.id, doc.text) for doc in again] == [(doc.id, doc.text) for doc in docs]
    assert [[(x.span, x.title) for x in doc.links] for doc in again] == [
        [(x.span, x.title) for x in doc.links] for doc in docs
    ]


def test_corrections_made_in_label_studio(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    doc = Document("🦊 Voss and Kent", "7", (Link(Span(2, 6), "Voss", confidence=0.4), Link(Span(11, 15), "Kent")))
    label_studio.write(path, [doc])
    assert formats.format_of(path) == "label-studio"
    (task,) = json.loads(path.read_text())
    result = task["predictions"][0]["result"]
    assert result[0]["value"] == {"start": 2, "end": 6, "text": "Voss", "labels": ["Entity"]}
    result[1]["value"]["text"] = ["Voss (water)"]
    del result[3]  # the title of Kent was emptied
    result[2]["value"] |= {"start": 12, "end": 16}  # as old versions count, in UTF-16
    result.append({"type": "relation", "from_id": "m0", "to_id": "m1"})
    skipped = {**task, "annotations": [{"was_cancelled": True, "result": []}]}
    path.write_text(json.dumps([{**task, "id": 1, "annotations": [{"result": result}]}, skipped]))
    losses: Counter[str] = Counter()
    corrected = (Link(Span(2, 6), "Voss (water)"), Link(Span(11, 15)))
    assert read(path, losses=losses) == [Document(doc.text, "7", corrected)]
    assert sum(losses.values()) == 1


def test_corrections_made_in_prodigy(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    links = (Link(Span(0, 4), "Voss", "Q1", confidence=0.4), Link(Span(9, 13), "Kent", "Q2"))
    prodigy.write(path, [Document("Voss and Kent", "7", links, extra={"source": "x"})])
    task = json.loads(path.read_text())
    task["spans"][1]["kb_id"] = "Kent (band)"
    task |= {"answer": "accept", "_input_hash": 1, "tokens": []}
    choice = {
        "text": "Voss",
        "spans": [{"start": 0, "end": 4, "label": "GPE"}],
        "options": [{"id": "Q5", "html": "Voss"}, {"id": "NIL_other", "text": "none"}],
        "accept": ["Q5"],
        "answer": "accept",
        "meta": {"id": 9},
    }
    write(path, task, choice, {**choice, "accept": ["NIL_other"]}, {**choice, "answer": "reject"})
    assert formats.format_of(path) == "prodigy"
    losses: Counter[str] = Counter()
    first, second, third = read(path, losses=losses)
    assert first == Document("Voss and Kent", "7", (links[0], Link(Span(9, 13), "Kent (band)")), extra={"source": "x"})
    assert (second.id, second.links[0].title, third.links[0].title) == ("9", "Q5", None)
    assert sum(losses.values()) == 1
