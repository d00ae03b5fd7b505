"""spaCy's DocBin: everything comes back, what spaCy users expect is where they look, and corrections win."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import DocBin
from spacy.tokens import Span as Entity

from documents import documents
from parlink.data.formats import docbin
from parlink.types import Document, Link, Span


@settings(max_examples=40, deadline=None)
@given(st.lists(documents(extras=st.none() | st.text(max_size=3)), max_size=3))
def test_documents_come_back(tmp_path_factory: pytest.TempPathFactory, docs: list[Document]) -> None:
    path = tmp_path_factory.mktemp("docbin") / "a.spacy"
    losses: Counter[str] = Counter()
    docbin.write(path, docs, losses=losses)
    again = list(docbin.read(path))
    assert [doc.text for doc in again] == [doc.text for doc in docs]
    key = lambda link: (link.span, link.title or "")  # noqa: E731
    for new, old in zip(again, docs, strict=True):
        assert sorted(map(key, new.links)) == sorted(map(key, old.links))
        if not losses:
            assert sorted(new.links, key=key) == sorted(old.links, key=key)
            assert (new.id, new.spans, new.kb, new.error, new.extra) == (
                old.id,
                old.spans,
                old.kb,
                old.error,
                old.extra,
            )


def test_a_correction_made_in_spacy_wins(tmp_path: Path) -> None:
    path = tmp_path / "a.spacy"
    links = (Link(Span(0, 4), "Kent", "Q23298", confidence=0.9), Link(Span(11, 15)))
    docbin.write(path, [Document("Kent meets Voss.", "7", links)])
    nlp = spacy.blank("en")
    (doc,) = DocBin().from_bytes(path.read_bytes()).get_docs(nlp.vocab)
    assert [(ent.text, ent.kb_id_) for ent in doc.ents] == [("Kent", "Kent"), ("Voss", "")]
    doc.ents = [doc.ents[0], Entity(doc, 2, 3, label="ENTITY", kb_id="Voss (town)")]
    path.write_bytes(DocBin(docs=[doc], store_user_data=True).to_bytes())
    (again,) = docbin.read(path)
    assert again == Document("Kent meets Voss.", "7", (links[0], Link(Span(11, 15), "Voss (town)")))
    (resolved,) = docbin.read(path, resolve={"Kent": "Kent County"}.get)
    assert [link.title for link in resolved.links] == ["Kent County", "Voss (town)"]
