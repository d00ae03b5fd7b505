from __future__ import annotations

import sys

import pytest

from parlink import docs_to_dataframe
from parlink.errors import ParlinkError
from parlink.types import Document, Link, Span


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


def test_no_links_are_an_empty_table_with_its_columns() -> None:
    assert list(docs_to_dataframe([]).columns[:3]) == ["document", "surface", "start"]


def test_without_pandas_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ParlinkError, match=r"install parlink\[pandas\]"):
        docs_to_dataframe([])
