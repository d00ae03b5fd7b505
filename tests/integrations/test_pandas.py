"""Links of a column of texts, and links as a table."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from parlink import docs_to_dataframe
from parlink.data import jsonl
from parlink.errors import ParlinkError, TextError
from parlink.integrations.pandas import link_series
from parlink.linking.linker import Linker
from parlink.types import Document, Link, Span
from tiny_corpus import DOCUMENTS, OPTIONS, tiny_job


def test_a_series_keeps_its_index_and_its_gaps(tmp_path: Path) -> None:
    job = tiny_job(tmp_path)
    texts = pd.Series([DOCUMENTS[0].text, None, DOCUMENTS[1].text], index=[7, 8, 9])
    links = link_series(texts, model=job.model, kb=job.kb, options=OPTIONS)
    linker = Linker.load(job.model, kb=job.kb)
    assert list(links.index) == [7, 8, 9] and links.name == "links"
    assert links[8] is None
    for place in (7, 9):
        wanted = linker.link(texts[place], options=OPTIONS)
        assert [link["start"] for link in links[place]] == [link.span.start for link in wanted.links]
        assert [link["title"] for link in links[place]] == [link.title for link in wanted.links]
        assert wanted.links and jsonl.link_to_json(wanted.links[0]).keys() >= {"start", "end", "title"}


def test_a_row_a_link_with_the_document_it_comes_from() -> None:
    kent = Link(Span(0, 4), "Kent", id="Q23298", type="place", confidence=0.5)
    nil = Link(Span(5, 9), reason="no_candidate")
    table = docs_to_dataframe(
        [Document("Nobody."), Document("Kent beat", links=(kent, nil)), Document("Kent", "b", (kent,))]
    )
    assert table[["document", "surface", "title", "confidence", "reason"]].astype(object).where(
        lambda cells: cells.notna(), ""
    ).values.tolist() == [
        [1, "Kent", "Kent", 0.5, ""],
        [1, "beat", "", "", "no_candidate"],
        ["b", "Kent", "Kent", 0.5, ""],
    ]


def test_one_document_is_a_table_and_what_is_none_is_refused() -> None:
    doc = Document("Kent", links=(Link(Span(0, 4), "Kent"),))
    assert docs_to_dataframe(doc).equals(docs_to_dataframe([doc]))
    with pytest.raises(TextError, match="documents that were linked, got 'Kent'"):
        docs_to_dataframe(["Kent"])  # type: ignore[list-item]
    with pytest.raises(TextError, match="documents that were linked, got 3"):
        docs_to_dataframe(3)  # type: ignore[arg-type]


def test_a_document_that_failed_has_a_row_with_its_error() -> None:
    linked = Document("Kent", "a", (Link(Span(0, 4), "Kent"),))
    table = docs_to_dataframe([linked, Document("Paris", error="too long"), Document("Nobody.")])
    assert list(table.document) == ["a", 1]
    assert list(table.error.notna()) == [False, True] and table.error[1] == "too long"
    assert list(table.start.dropna()) == [0] and str(table.start.dtype) == "Int64"


def test_no_links_are_an_empty_table_with_its_columns() -> None:
    assert list(docs_to_dataframe([]).columns[:3]) == ["document", "surface", "start"]


def test_without_pandas_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ParlinkError, match=r"install parlink\[pandas\]"):
        docs_to_dataframe([])
