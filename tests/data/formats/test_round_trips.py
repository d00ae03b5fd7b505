"""What a format can hold comes back exactly; what it cannot is counted. For every format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from documents import documents, plain_documents
from parlink.data import formats
from parlink.data.formats import brat, conll, nif
from parlink.types import Document, Link, Span

NAMES = {"nif": "d.ttl", "brat": "d", "elevant": "e.jsonl", "elevant-predictions": "p.jsonl", "jsonl": "d.jsonl"}
lossless = st.sampled_from(sorted(NAMES))
distinct = {"unique_by": lambda doc: doc.id, "max_size": 3}


def there_and_back(folder: Path, name: str, docs: list[Document]) -> tuple[list[Document], Counter[str]]:
    losses: Counter[str] = Counter()
    formats.WRITERS[name](folder / NAMES[name], docs, losses=losses)
    again = list(formats.READERS[name](folder / NAMES[name])) if docs or name != "brat" else []
    order = {doc.id: place for place, doc in enumerate(docs)}  # brat sorts by name
    return sorted(again, key=lambda doc: order.get(doc.id, 0)), losses


def emptied(folder: Path) -> Path:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    return folder


def mentions(docs: list[Document]) -> list[tuple[str, list[Span]]]:
    return sorted((doc.text, [link.span for link in doc.links]) for doc in docs)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        yield Path(name)


@settings(max_examples=50)
@given(st.lists(plain_documents(), **distinct), lossless)
def test_links_are_held_exactly(folder: Path, docs: list[Document], name: str) -> None:
    again, losses = there_and_back(emptied(folder), name, docs)
    assert again == docs
    assert not losses


@settings(max_examples=50)
@example([Document("Kent", "1", (Link(Span(0, 4), "Kent", id="NIL"),))], "elevant")
@example([Document("Kent", "1", (Link(Span(0, 4), "Kent", id="NIL"),))], "elevant-predictions")
@example([Document("Kent", "1", (Link(Span(0, 4), "Kent", id="NIL", extra={"name": None}),))], "elevant")
@given(st.lists(documents(extras=st.none() | st.text(max_size=3)), **distinct), lossless)
def test_nothing_is_lost_in_silence(folder: Path, docs: list[Document], name: str) -> None:
    again, losses = there_and_back(emptied(folder), name, docs)
    assert (again == docs) == (not losses)
    assert mentions(again) == mentions(docs)


@settings(max_examples=50)
@given(st.lists(plain_documents(), max_size=3))
def test_aida_is_exact_after_its_white_space_rule(folder: Path, docs: list[Document]) -> None:
    path = folder / "d.tsv"
    conll.write(path, docs)
    normal = [conll.normalize(doc) for doc in docs]
    assert list(conll.read(path)) == normal
    assert [conll.normalize(doc) for doc in normal] == normal
    losses: Counter[str] = Counter()
    conll.write(path, normal, losses=losses)
    assert list(conll.read(path)) == normal
    assert not losses


@settings(max_examples=50)
@given(st.lists(plain_documents(), max_size=3))
def test_zelda_holds_titles_and_nil(folder: Path, docs: list[Document]) -> None:
    path = folder / "d.jsonl"
    without_ids = [replace(doc, links=tuple(replace(link, id=None) for link in doc.links)) for doc in docs]
    losses: Counter[str] = Counter()
    formats.WRITERS["zelda"](path, without_ids, losses=losses)
    assert list(formats.READERS["zelda"](path)) == without_ids
    assert not losses


def test_crlf_emoji_and_links_at_the_edges(tmp_path: Path) -> None:
    text = "👩‍👩‍👧 of Åre\r\nate e\u0301clairs\rin\tSäo Paulo"
    ends = [Link(Span(0, 5), "Family"), Link(Span(len(text) - 9, len(text)), "São Paulo", "Q174"), Link(Span(9, 16))]
    doc = Document(text, "d", tuple(ends))
    for name in NAMES:
        assert there_and_back(tmp_path, name, [doc]) == ([doc], Counter())
    assert conll.normalize(doc).text == "👩‍👩‍👧 of Åre at e e\u0301clairs in Säo Paulo"


def test_the_same_id_twice_is_numbered_and_counted(tmp_path: Path) -> None:
    docs = [Document("a", "x"), Document("b", "x"), Document("c", "x")]
    for name, module in (("nif", nif), ("brat", brat)):
        losses: Counter[str] = Counter()
        module.write(tmp_path / NAMES[name], docs, losses=losses)
        again = list(module.read(tmp_path / NAMES[name]))
        assert sorted(doc.text for doc in again) == ["a", "b", "c"]
        assert len({doc.id for doc in again}) == 3
        assert sum(losses.values()) == 2


def test_a_number_in_place_of_an_id_is_not_the_name_of_another_document(tmp_path: Path) -> None:
    brat.write(tmp_path / "brat", [Document("first", id="document-2"), Document("second")])
    assert sorted(doc.text for doc in brat.read(tmp_path / "brat")) == ["first", "second"]


def test_aida_counts_what_it_leaves_out(tmp_path: Path) -> None:
    links = (Link(Span(0, 3), "A"), Link(Span(2, 5), "B"), Link(Span(3, 4), "C"), Link(Span(5, 6), confidence=0.5))
    losses: Counter[str] = Counter()
    conll.write(tmp_path / "d.tsv", [Document("abc de\nf", "1", links)], losses=losses)
    assert losses == {"mention that overlaps another, or is only white space": 2, "confidence of a link": 1}
    (doc,) = conll.read(tmp_path / "d.tsv")
    assert doc == Document("abc d e f", "1", (Link(Span(0, 3), "A"), Link(Span(6, 7))))
