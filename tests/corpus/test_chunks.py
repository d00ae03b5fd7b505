"""Chunks: every entry once, in order, each chunk as small as its limits allow."""

from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlink.corpus import chunks
from parlink.data.formats.entries import Entry
from parlink.types import Document

texts = st.lists(st.one_of(st.none(), st.integers(0, 12)), max_size=30)  # None: a broken line


def entries_of(lengths):
    return [
        Entry("in.jsonl", number, error="broken")
        if length is None
        else Entry("in.jsonl", number, Document("x" * length))
        for number, length in enumerate(lengths)
    ]


def characters(entries):
    return sum(len(entry.document.text) for entry in entries if entry.document is not None)


@given(texts, st.one_of(st.none(), st.integers(1, 5)))
def test_a_chunk_ends_as_soon_as_it_is_full(lengths, part_documents):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHARACTERS", 20)
        patch.setattr(chunks, "DOCUMENTS", 6)
        entries = entries_of(lengths)
        cut = list(chunks.cut(entries, part_documents=part_documents))
    assert list(chain.from_iterable(chunk.entries for chunk in cut)) == entries
    for chunk in cut:
        assert characters(chunk.entries[:-1]) < 20
        assert len(chunk.entries) <= 6
    for chunk in cut[:-1]:
        assert chunk.closes or characters(chunk.entries) >= 20 or len(chunk.entries) == 6
