from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy

from parlink.errors import DataFormatError, ParlinkError
from parlink.types import Candidate, Document, Entity, Link, Span

TEXT = "The king of Jordan flew to Egypt."
JORDAN = Link(
    Span(12, 18),
    "Jordan",
    id="Q810",
    type="place",
    description="country",
    confidence=0.8794878083447821,
    candidates=tuple(Candidate(f"Jordan {number}", score=-0.123456789, prior=0.1) for number in range(30)),
    url="https://en.wikipedia.org/wiki/Jordan",
)
NIL = Link(Span(27, 32), reason="no_candidate")
DOC = Document(TEXT, id="7", links=(JORDAN, NIL))


def test_a_document_goes_to_plain_data_and_to_json_and_back() -> None:
    assert Document.from_dict(DOC.to_dict()) == DOC
    assert Document.from_dict(json.loads(DOC.to_json())) == DOC
    assert "\n" not in DOC.to_json()


def test_plain_data_that_is_no_document_is_an_error_that_says_so() -> None:
    with pytest.raises(DataFormatError, match="needs a string 'text'"):
        Document.from_dict({"txt": TEXT})
    with pytest.raises(DataFormatError, match="must be a JSON object, got 'Jordan'"):
        Document.from_dict("Jordan")  # type: ignore[arg-type]


def test_a_text_that_is_no_string_is_refused() -> None:
    with pytest.raises(TypeError, match=r"must be a string, got b.Jordan'"):
        Document(b"Jordan")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Span(1.5, 3), "Span needs whole numbers, got start 1.5 and end 3"),
        (lambda: Span("0", 3), "got start '0' and end 3"),
        (lambda: Span(True, 3), "got start True and end 3"),
        (lambda: Link((0, 3)), r"Link.span must be a Span, as in Span\(0, 5\), got \(0, 3\)"),
        (lambda: Link(Span(0, 3), title=3), "Link.title must be a string or None, got 3"),
        (lambda: Link(Span(0, 3), confidence="high"), "Link.confidence must be a number or None, got 'high'"),
        (lambda: Link(Span(0, 3), confidence=True), "must be a number or None, got True"),
        (lambda: Entity(3), "Entity.title must be a string, got 3"),
        (lambda: Entity("a", description=3), "Entity.description must be a string or None, got 3"),
        (lambda: Candidate(3), "Candidate.title must be a string, got 3"),
        (lambda: Document("a", id=3), "Document.id must be a string, got 3"),
        (lambda: Document("a", links=3), "Document.links must be a tuple of Link, got 3"),
        (lambda: Document("a", links=["a"]), "Document.links must be a tuple of Link"),
        (lambda: DOC.surface(3), "surface wants a Link or a Span, got 3"),
        (lambda: DOC.to_html(3), "to_html writes to a path, a string or a Path, got 3"),
    ],
)
def test_what_a_value_cannot_hold_is_refused_in_a_sentence(make: Callable[[], object], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        make()


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"text": 3}, "<document>: the document: text must be a string, got 3"),
        ({"id": "7", "text": 3}, "<document '7'>: the document: text must be a string, got 3"),
        (
            {"id": 7, "text": "a", "links": [{"start": "0", "end": 1}]},
            "<document 7>: links[0]: start must be an integer",
        ),
        ({"txt": "a"}, "the document has no text, but 'txt'; every document needs a string 'text'"),
    ],
)
def test_an_error_of_plain_data_names_the_document_and_the_field(value: dict[str, object], says: str) -> None:
    with pytest.raises(DataFormatError, match=re.escape(says)):
        Document.from_dict(value)


def test_a_link_says_where_it_is_and_what_it_refers_to() -> None:
    assert (JORDAN.start, JORDAN.end) == (12, 18)
    assert JORDAN.entity == Entity("Jordan", "Q810", "place", "country", "https://en.wikipedia.org/wiki/Jordan")
    assert NIL.entity is None
    assert list(DOC) == [JORDAN, NIL]
    assert [DOC.surface(link) for link in DOC] == ["Jordan", "Egypt"]
    assert DOC.surface(Span(4, 8)) == "king"


def test_a_repr_fits_on_a_line_and_names_what_matters() -> None:
    assert repr(JORDAN) == "Link(12, 18, 'Jordan', id='Q810', type='place', confidence=0.879)"
    assert repr(NIL) == "Link(27, 32, None, reason='no_candidate')"
    assert repr(JORDAN.candidates[0]) == "Candidate('Jordan 0', score=-0.123, prior=0.1)"
    assert repr(DOC) == f"Document({TEXT!r}, id='7', links={{'Jordan': 'Jordan', 'Egypt': None}})"
    assert repr(Document("")) == "Document('')"
    assert "error='too long'" in repr(Document("a", error="too long"))


def test_the_repr_of_a_long_document_is_cut() -> None:
    shown = repr(Document(50 * TEXT, links=50 * (JORDAN,)))
    assert len(shown) < 250
    assert "..." in shown and "45 more" in shown


def test_a_notebook_shows_the_text_with_its_links_and_nothing_that_is_hostile() -> None:
    shown = DOC._repr_html_()
    assert 'href="https://en.wikipedia.org/wiki/Jordan"' in shown and ">Jordan</a>" in shown
    assert "Jordan, place: country (88 % sure)" in shown
    assert "the knowledge base has no candidate" in shown
    hostile = "<script>alert(1)</script>"
    link = Link(Span(0, 8), hostile, type=hostile, description=hostile, url="javascript:alert(1)")
    shown = Document(hostile, links=(link,), error=hostile)._repr_html_()
    assert "<script" not in shown and "javascript:" not in shown


def test_a_page_is_returned_and_written(tmp_path: Path) -> None:
    page = DOC.to_html(tmp_path / "page.html")
    assert page == (tmp_path / "page.html").read_text() == DOC.to_html()


def test_a_document_becomes_a_doc_of_spacy() -> None:
    nlp = spacy.blank("en")
    doc = DOC.to_spacy(nlp.vocab)
    assert doc.text == TEXT and doc.vocab is nlp.vocab
    assert [(ent.text, ent.label_, ent.kb_id_) for ent in doc.ents] == [
        ("Jordan", "place", "Jordan"),
        ("Egypt", "ENTITY", ""),
    ]
    assert doc.ents[0]._.parlink == JORDAN
    with pytest.raises(ParlinkError, match=r"doc\.to_spacy\(nlp\.vocab\)"):
        DOC.to_spacy(nlp)  # type: ignore[arg-type]
