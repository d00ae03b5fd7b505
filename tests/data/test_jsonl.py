"""parlink JSONL: lossless, tolerant of unknown fields, strict about everything else."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents import documents
from parlink.data import jsonl
from parlink.errors import DataFormatError, ParlinkError
from parlink.types import Candidate, Document, Link, Span

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=3,
)


@settings(max_examples=60)
@given(documents(extras=json_values))
def test_a_document_comes_back_as_it_was(doc: Document) -> None:
    line = jsonl.encode(doc)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert jsonl.decode(line) == doc
    assert jsonl.encode(jsonl.decode(line)) == line


@settings(max_examples=50)
@given(st.lists(documents(), max_size=4), st.sampled_from(["d.jsonl", "d.jsonl.gz", "d.jsonl.bz2", "d.jsonl.zst"]))
def test_files_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, docs: list[Document], name: str
) -> None:
    path = tmp_path_factory.mktemp("jsonl") / name
    jsonl.write(path, docs)
    assert list(jsonl.read(path)) == docs
    assert [file.name for file in path.parent.iterdir()] == [name]


def test_the_shape_of_the_design_page() -> None:
    line = """{"id": "7", "text": "Leicester play Kent at Grace Road.", "links": [{"start": 15, "end": 19,
        "title": "Kent County Cricket Club", "candidates": [{"title": "Kent", "prior": 0.8},
        {"title": "Kent County Cricket Club", "prior": 0.2}]}]}"""
    doc = jsonl.decode(line)
    candidates = (Candidate("Kent", prior=0.8), Candidate("Kent County Cricket Club", prior=0.2))
    assert doc == Document(
        "Leicester play Kent at Grace Road.",
        "7",
        (Link(Span(15, 19), "Kent County Cricket Club", candidates=candidates),),
    )
    assert jsonl.to_json(doc) == json.loads(line)


def test_a_link_without_a_title_is_nil_and_is_written_as_null() -> None:
    absent = jsonl.decode('{"text": "Anna", "links": [{"start": 0, "end": 4}]}')
    null = jsonl.decode('{"text": "Anna", "links": [{"start": 0, "end": 4, "title": null}]}')
    assert absent == null
    assert absent.links[0].title is None
    assert jsonl.to_json(absent)["links"] == [{"start": 0, "end": 4, "title": None}]


def test_spans_may_be_objects_or_pairs() -> None:
    doc = jsonl.decode('{"text": "a bird", "spans": [{"start": 0, "end": 1}, [2, 6]]}')
    assert doc.spans == (Span(0, 1), Span(2, 6))
    assert jsonl.decode('{"text": "a bird", "spans": []}').spans == ()
    assert jsonl.decode('{"text": "a bird"}').spans is None


def test_an_id_may_be_an_integer() -> None:
    assert jsonl.decode('{"text": "a", "id": 7}').id == "7"


def test_unknown_fields_are_carried_through_at_every_level() -> None:
    value: dict[str, Any] = {
        "text": "Oslo",
        "links": [{"start": 0, "end": 4, "title": "Oslo", "candidates": [{"title": "Oslo", "k": None}], "ner": "LOC"}],
        "source": {"page": [1, 2.5]},
    }
    assert jsonl.to_json(jsonl.from_json(value)) == value


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"text": "a"', "JSON"),
        ("[1]", "JSON object"),
        ('{"id": "1"}', "no text"),
        ('{"text": 5}', "text must be a string"),
        ('{"text": "a", "id": 7.5}', "id must be a string"),
        ('{"text": "a", "id": true}', "id must be a string"),
        ('{"text": "a", "links": {}}', "links must be a list"),
        ('{"text": "a", "links": [{"start": 0, "end": 2}]}', r"links\[0\].*\[0, 2\).*1 characters"),
        ('{"text": "ab", "links": [{"start": 1, "end": 1}]}', r"\[1, 1\)"),
        ('{"text": "ab", "links": [{"start": -1, "end": 1}]}', r"\[-1, 1\)"),
        ('{"text": "a", "links": [{"start": 0}]}', "needs integers"),
        ('{"text": "a", "links": [{"start": false, "end": 1}]}', "start must be an integer"),
        ('{"text": "a", "links": [{"start": 0.0, "end": 1}]}', "start must be an integer"),
        ('{"text": "a", "links": [{"start": 0, "end": 1, "score": "high"}]}', "confidence must be a number"),
        (
            f'{{"text": "a", "links": [{{"start": 0, "end": 1, "score": 1{"0" * 400}}}]}}',
            "confidence must be a number, got 100",
        ),
        ('{"text": "a", "links": [{"start": 0, "end": 1, "candidates": ["b"]}]}', r"candidates\[0\] must be"),
        ('{"text": "a", "links": [{"start": 0, "end": 1, "candidates": [{}]}]}', r"candidates\[0\] has no title"),
        ('{"text": "a", "spans": [[0, 1, 2]]}', r"spans\[0\]"),
        ('{"text": "a", "spans": [[0, 2]]}', r"spans\[0\]"),
        ('{"text": "\\ud83d lone"}', "JSON"),
        ('{"text": NaN}', "JSON"),
    ],
)
def test_a_broken_line_is_an_error_with_file_and_line(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text('{"text": "fine"}\n\n' + line + "\n")
    documents = jsonl.read(path)
    assert next(documents).text == "fine"
    with pytest.raises(DataFormatError, match=says) as caught:
        next(documents)
    assert str(caught.value).startswith(f"{path}:3: ")
    assert caught.value.line == 3


def test_bytes_that_are_not_utf8_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "latin.jsonl"
    path.write_bytes('{"text": "Malmö"}'.encode("latin-1"))
    with pytest.raises(DataFormatError, match="UTF-8"):
        list(jsonl.read(path))


def test_a_compressed_file_cut_off_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "fine"}\n' * 1000)[:-30])
    with pytest.raises(DataFormatError, match="cut off"):
        list(jsonl.read(path))


def test_a_missing_file_and_a_folder_are_errors(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(DataFormatError, match="cannot be read"):
            list(jsonl.read(path))


def test_windows_line_ends_and_a_byte_order_mark_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "windows.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text": "a\\r\\nb"}\r\n{"text": "c"}\r\n')
    assert [doc.text for doc in jsonl.read(path)] == ["a\r\nb", "c"]


@pytest.mark.parametrize(
    "doc",
    [
        Document("lone \ud800"),
        Document("a", links=(Link(Span(0, 1), confidence=float("nan")),)),
        Document("a", links=(Link(Span(0, 1), candidates=(Candidate("A", lm=float("-inf")),)),)),
        Document("a", extra={"text": "b"}),
    ],
)
def test_what_json_cannot_hold_is_refused(tmp_path: Path, doc: Document) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("before")
    with pytest.raises(ParlinkError):
        jsonl.write(path, [Document("fine"), doc])
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_lone_surrogate_in_plain_data_is_refused() -> None:
    with pytest.raises(DataFormatError, match="lone surrogate at character 2"):
        jsonl.from_json({"text": "ab\ud800"})


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    jsonl.write("-", [Document("a"), Document("b")])
    assert capfdbinary.readouterr().out == b'{"text":"a"}\n{"text":"b"}\n'
