"""Documents from tables: any field for the text and the id, every other field as it came; links out to tables."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from documents import documents
from parlink.data import files, formats, jsonl
from parlink.data.formats import delimited, json_list, parquet
from parlink.data.formats.entries import read_entries
from parlink.errors import DataFormatError, ParlinkError
from parlink.types import Document, Link, Span

ROWS: list[dict[str, Any]] = [
    {"docno": 7, "body": 'Kent, "the\n\ncounty"', "year": 1999, "score": 0.5},
    {"docno": 8, "body": "Voß", "year": 2001, "score": None},
]


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    suffix = Path(path.name.removesuffix(".gz").removesuffix(".zst").removesuffix(".bz2")).suffix
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
        return path
    with files.open_output(path) as binary:
        if suffix == ".jsonl":
            binary.write("".join(json.dumps(row) + "\n" for row in rows).encode())
        elif suffix == ".json":
            binary.write(json.dumps(rows, indent=1).encode())
        else:
            text = io.StringIO()
            table = csv.DictWriter(text, [*rows[0]], delimiter="\t" if suffix == ".tsv" else ",")
            table.writeheader()
            table.writerows(rows)
            binary.write(text.getvalue().encode())
    return path


NAMES = ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.jsonl.bz2", "a.json", "a.csv", "a.csv.gz", "a.tsv", "a.parquet"]


@pytest.mark.parametrize("name", NAMES)
def test_any_field_is_the_text_and_the_others_come_back(tmp_path: Path, name: str) -> None:
    path = write_rows(tmp_path / name, ROWS)
    docs = list(formats.read(path, text_field="body", id_field="docno"))
    assert [(doc.id, doc.text) for doc in docs] == [("7", 'Kent, "the\n\ncounty"'), ("8", "Voß")]
    strings = "csv" in name or "tsv" in name
    assert docs[0].extra == ({"year": "1999", "score": "0.5"} if strings else {"year": 1999, "score": 0.5})
    formats.convert(path, tmp_path / "out.jsonl", text_field="body", id_field="docno")
    assert list(jsonl.read(tmp_path / "out.jsonl")) == docs


@pytest.mark.parametrize("name", NAMES)
def test_a_field_that_is_not_there_or_is_there_twice(tmp_path: Path, name: str) -> None:
    path = write_rows(tmp_path / name, [{"text": "a", "body": "b", "id": "1"}])
    with pytest.raises(DataFormatError, match="no field 'content' for the text; it has 'text', 'body', 'id'"):
        list(formats.read(path, text_field="content"))
    with pytest.raises(DataFormatError, match="has a field 'text' beside 'body'"):
        list(formats.read(path, text_field="body"))
    path = write_rows(tmp_path / name, [{"body": "b"}])
    with pytest.raises(DataFormatError, match="no text"):
        list(formats.read(path))


@pytest.mark.parametrize("name", [name for name in NAMES if "json" not in name])
def test_a_table_without_a_text_is_refused_whole(tmp_path: Path, name: str) -> None:
    path = write_rows(tmp_path / name, [{"body": "a"}, {"body": "b"}])
    with pytest.raises(DataFormatError, match="it has 'body'; --text-field names the one"):
        list(read_entries(path))


def test_formats_without_fields_say_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    with pytest.raises(ParlinkError, match="text files have no fields"):
        list(formats.read(tmp_path / "a.txt", text_field="body"))


def test_folders_and_patterns_are_their_files_in_order(tmp_path: Path) -> None:
    write_rows(tmp_path / "b.csv", [{"id": "2", "text": "two"}])
    write_rows(tmp_path / "a.jsonl.gz", [{"id": "1", "text": "one"}])
    (tmp_path / "c.txt").write_bytes(b"\xef\xbb\xbfthree\r\n")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".hidden").write_text("")
    assert [(doc.id, doc.text) for doc in formats.read(tmp_path)] == [("1", "one"), ("2", "two"), ("c", "three\r\n")]
    assert [doc.id for doc in formats.read(tmp_path / "[ab].*")] == ["1", "2"]
    assert [doc.id for doc in formats.read(tmp_path / "**" / "*.txt", "text")] == ["c"]
    for nothing in (tmp_path / "*.parquet", tmp_path / "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(DataFormatError, match="no file in it"):
            formats.read(nothing)


def test_remote_folders_and_patterns(tmp_path: Path) -> None:
    fsspec.filesystem("memory").store.clear()
    for number in (2, 1):
        jsonl.write(f"memory://corpus/part-{number}.jsonl.gz", [Document("x", str(number))])
    for path in ("memory://corpus", "memory://corpus/part-*.jsonl.gz", Path("memory://corpus")):
        assert [doc.id for doc in formats.read(path)] == ["1", "2"]
    formats.convert("memory://corpus", "memory://out/links.parquet")
    assert [doc.id for doc in formats.read("memory://out/links.parquet")] == ["1", "2"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"id": 5, "text": "a"}\n')))
    assert list(formats.read("-")) == [Document("a", "5")]


BROKEN = [
    ("a.csv", "id,text\n1\n", r"a\.csv:2: the row has 1 fields, and the header 2"),
    ("a.csv", "text,text\n1,2\n", r"a\.csv:1: two columns"),
    ("a.csv", 'text\n"never closed\n', r"a\.csv:\d: broken table"),
    ("a.json", '[{"text": "a"}, {"text": "b"', r"a\.json:1: not valid JSON"),
    ("a.json", '[{"text": "a"},\n\n 5]', r"a\.json:3: the list holds '5'"),
    ("a.json", '[{"text": NaN}]', r"a\.json:1: not valid JSON"),
    ("a.json", "[" + '{"x":' * 100_000, r"a\.json:1: not valid JSON"),
    ("a.parquet", "no such thing", r"a\.parquet: not a Parquet file"),
    ("a.spacy", "no such thing", r"a\.spacy: not a DocBin"),
]


@pytest.mark.parametrize(("name", "content", "says"), BROKEN)
def test_broken_files(tmp_path: Path, name: str, content: str, says: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataFormatError, match=says):
        list(formats.read(tmp_path / name, {"a.json": "json"}.get(name)))


def test_a_long_field_of_a_table(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.csv", [{"text": "x" * 1_000_000}])
    assert len(next(formats.read(path)).text) == 1_000_000


@given(st.lists(documents(extras=st.text(max_size=3)), max_size=4), st.integers(1, 40))
@settings(max_examples=40)
def test_a_json_list_comes_back_whatever_the_chunks(
    tmp_path_factory: pytest.TempPathFactory, docs: list[Document], chunk: int
) -> None:
    path = tmp_path_factory.mktemp("json") / "a.json"
    json_list.write(path, docs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_list, "_CHUNK", chunk)
        assert list(json_list.read(path)) == docs
    assert len(json.loads(path.read_text())) == len(docs)


extras = st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3) | st.lists(st.integers(0, 9), max_size=2)


@example([Document("a", extra={"x": {}}), Document("b", extra={"x": {"k": []}})])
@given(st.lists(documents(extras=extras | st.integers() | st.dictionaries(st.text(max_size=1), extras)), max_size=5))
@settings(max_examples=60, deadline=None)
def test_parquet_holds_everything(tmp_path_factory: pytest.TempPathFactory, docs: list[Document]) -> None:
    path = tmp_path_factory.mktemp("parquet") / "a.parquet"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "_ROWS", 2)
        parquet.write(path, docs)
        again = list(parquet.read(path))
    assert [_without_nulls(doc) for doc in again] == [_without_nulls(doc) for doc in docs]


def _without_nulls(doc: Document) -> Document:
    """An absent field of a column comes back as null."""
    return replace(doc, extra={name: value for name, value in doc.extra.items() if value is not None})


def test_parquet_has_a_nested_schema(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write(path, [Document("Kent", "1", (Link(Span(0, 4), "Kent", confidence=0.5),), extra={"year": 1999})])
    schema = pq.read_schema(path)
    link = schema.field("links").type.value_type
    assert link.field("start").type == pa.int64()
    assert link.field("confidence").type == pa.float64()
    assert link.field("candidates").type.value_type.field("prior").type == pa.float64()
    assert schema.field("year").type == pa.int64()
    parquet.write(path, [])
    assert list(parquet.read(path)) == []


def test_a_csv_of_links(tmp_path: Path) -> None:
    links = (Link(Span(0, 4), "Kent, England", "Q23298", confidence=0.25), Link(Span(5, 9), reason="no candidates"))
    losses: Counter[str] = Counter()
    delimited.write(tmp_path / "a.csv", [Document("Kent Voss", "7", links), Document("x", "8")], losses=losses)
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    assert [(row["document"], row["start"], row["end"], row["mention"]) for row in rows] == [
        ("7", "0", "4", "Kent"),
        ("7", "5", "9", "Voss"),
    ]
    assert (rows[0]["title"], rows[0]["entity_id"], rows[0]["confidence"]) == ("Kent, England", "Q23298", "0.25")
    assert (rows[1]["title"], rows[1]["reason"]) == ("", "no candidates")
    assert losses == {"text of a document (a CSV of links holds mentions only)": 2}
