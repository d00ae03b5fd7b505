from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from parlink.data import jsonl
from parlink.errors import ParlinkError
from parlink.evaluation.pairing import EvalWarning, LocatedDocument, add_other, check_gold, locate, pair, read_documents
from parlink.types import Document, Link, Span


def doc(id: str, text: str = "Kent won", *links: Link) -> Document:
    return Document(text, id=id, links=links)


def paired(gold: list[Document], predicted: list[Document]) -> tuple[Document, ...]:
    return pair(locate(gold, "gold"), locate(predicted, "predicted")).predicted


def test_by_id_whatever_the_order() -> None:
    found = paired([doc("1"), doc("2", "x")], [doc("2", "x", Link(Span(0, 1), "X")), doc("1")])
    assert [d.id for d in found] == ["1", "2"] and found[1].links


def test_the_same_id_in_two_sets_is_told_apart_by_text() -> None:
    found = paired([doc("1", "a"), doc("1", "b")], [doc("1", "b", Link(Span(0, 1), "B")), doc("1", "a")])
    assert [d.text for d in found] == ["a", "b"] and found[1].links


def test_by_order_where_ids_are_missing() -> None:
    assert len(paired([doc("", "a"), doc("", "a")], [doc("", "a"), doc("x", "a")])) == 2


def test_missing_and_failed_documents_are_counted() -> None:
    gold = locate([doc("1", "a"), doc("2"), doc("3", "c")], "gold")
    result = pair(gold, [LocatedDocument(Document("Kent won", id="2", error="boom"), "p.jsonl:1")])
    assert [(w.count, w.first) for w in result.warnings] == [(2, "gold document 1"), (1, "p.jsonl:1: boom")]
    assert [d.links for d in result.predicted] == [(), (), ()]


def test_what_is_missing_from_the_other_system_is_counted_too() -> None:
    gold = locate([doc("1", "a"), doc("2", "b")], "gold")
    result = add_other(pair(gold, gold), gold, [LocatedDocument(doc("2", "b"), "o.jsonl:1")])
    assert [(w.count, w.first) for w in result.warnings] == [(1, "gold document 1")]
    assert "the other system" in result.warnings[0].what and result.other is not None and len(result.other) == 2


def test_a_text_that_comes_again_is_counted() -> None:
    warnings = check_gold(locate([doc(""), doc("", "b"), doc("")], "gold"))
    assert [(w.count, w.first) for w in warnings] == [(1, "gold document 3")]


def test_a_warning_names_a_place_only_where_there_is_one() -> None:
    assert str(EvalWarning("odd texts", 1234, "gold:3")) == "1,234 odd texts; first: gold:3"
    assert str(EvalWarning("entities that the KB does not know", 25)) == "25 entities that the KB does not know"


def test_overlapping_gold_is_counted() -> None:
    links = [Link(Span(0, 4), "A"), Link(Span(2, 8), "B"), Link(Span(0, 4), "A")]
    gold = locate([doc("1", "Kent won", *links)], "gold")
    assert pair(gold, gold).warnings == (
        EvalWarning("gold mentions that overlap an earlier one (each still counts)", 2, "gold document 1"),
    )


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ([doc("1")], [doc("1"), doc("9")], r"predicted document 2: predictions for document '9', which is not"),
        ([doc("1")], [doc("1", "Kent lost")], r"predicted document 1: its text differs .* from character 5 on"),
        ([doc("1")], [doc("1"), doc("1")], r"predicted document 2: document '1' was already at predicted document 1"),
        ([doc("1"), doc("1")], [doc("1")], r"gold document 2: document '1' was already at gold document 1"),
        ([doc("")], [doc(""), doc("")], r"2 predicted documents for 1 gold ones"),
        ([doc("")], [doc("", "Kent")], r"differs from that of gold document 1 from character 4 on"),
        ([doc("1")], [doc("1", "Kent won", Link(Span(5, 9), "A"))], r"predicted document 1: the span \[5, 9\) is out"),
        ([doc("1", "Kent won", Link(Span(5, 9), "A"))], [doc("1")], r"gold document 1: the span \[5, 9\) is outside"),
    ],
)
def test_what_would_change_the_score_is_an_error(gold: list[Document], predicted: list[Document], message: str) -> None:
    with pytest.raises(ParlinkError, match=message):
        paired(gold, predicted)


def test_files_name_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    jsonl.write(path, [doc("1"), doc("2")])
    with path.open("ab") as file:
        file.write(b"\n" + jsonl.encode(doc("1")))
    items = read_documents([path])
    assert [item.place for item in items] == [f"{path}:{line}" for line in (1, 2, 4)]
    with pytest.raises(ParlinkError, match=r"gold\.jsonl:4: document '1' was already at .*gold\.jsonl:1"):
        pair(items, items)


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text("\n")
    with pytest.raises(ParlinkError, match=r"empty\.jsonl: the file is empty"):
        read_documents([path])
    turtle = tmp_path / "empty.ttl"
    turtle.write_text("\n")
    with pytest.raises(ParlinkError, match=r"empty\.ttl: no document in it"):
        read_documents([turtle])


def test_other_formats_are_read_and_what_could_not_be_resolved_is_counted(tmp_path: Path) -> None:
    path, losses = tmp_path / "gold.jsonl", Counter[str]()
    path.write_text(
        '{"id": 7, "text": "Kent won", "mentions": [{"start": 0, "end": 4, "entity": "Kent_(county)"}, '
        '{"start": 5, "end": 8, "qid": "Q1"}]}\n'
    )
    (item,) = read_documents([path], resolve={"Kent (county)": "Kent"}.get, losses=losses)
    assert item.doc.id == "7" and item.place == f"{path}: document 1" and item.doc.links[1].title == "Q1"
    assert losses.total() >= 1
