from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from parlink.config import ScoreWeights
from parlink.pages.link_card import PARTS
from parlink.pages.linked_text import to_html
from parlink.types import Candidate, Document, Link, Span

HOSTILE = "<script>alert(1)</script>\"'&"


class Reader(HTMLParser):
    """What a browser would see: the tags, and the text outside of style and cards."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.mentions: list[tuple[str, str | None]] = []  # tag and tabindex
        self.text = ""
        self._open: list[set[str]] = []  # the classes of each open element
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append(tag)
        if tag == "a":
            self.links.append(values["href"] or "")
        if "mention" in (values.get("class") or "").split():
            self.mentions.append((tag, values.get("tabindex")))
        if tag != "meta":
            self._open.append(set((values.get("class") or "").split()))

    def handle_endtag(self, tag: str) -> None:
        self._open.pop()

    def handle_data(self, data: str) -> None:
        classes = set().union(*self._open)
        if "linked" in classes and "card" not in classes:
            self.text += data


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\x00"), min_size=1), st.data())
def test_the_page_shows_the_text_unchanged(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    span = Span(start, data.draw(st.integers(start + 1, len(text))))
    page = Reader(to_html(Document(text, links=(Link(span, title=HOSTILE, reason=HOSTILE),))))
    assert page.text == text


def test_nothing_from_outside_becomes_markup() -> None:
    candidate = Candidate(HOSTILE, score=1.0, prior=0.5, lm=-1.0, classifier=2.0)
    link = Link(Span(0, 8), title=HOSTILE, url="javascript:alert(1)", candidates=(candidate,))
    nil = Link(Span(9, 12), reason=HOSTILE)
    page = Reader(to_html(Document(HOSTILE, id=HOSTILE, kb=HOSTILE, links=(link, nil))))
    assert "script" not in page.tags
    assert page.links == []


def test_a_link_leads_to_its_url_and_shows_the_parts() -> None:
    candidate = Candidate("Hamburg", score=1.25, prior=0.5, lm=-1.75, classifier=3.0)
    link = Link(
        Span(0, 7), title="Hamburg", url="https://example.org/Hamburg", confidence=0.87, candidates=(candidate,)
    )
    page = to_html(Document("Hamburg won.", links=(link,)))
    assert Reader(page).links == ["https://example.org/Hamburg"] * 2  # in the card and in the list
    assert Reader(page).mentions == [("span", "0")]
    for part in (
        "87 % sure",
        "Language model",
        "−1.75",
        "Classifier",
        "3.00",
        "Prior",
        "50 %",
        "There is no other candidate",
    ):
        assert part in page
    assert "http" not in page.replace("https://example.org/Hamburg", "")


def test_overlapping_given_spans_do_not_repeat_text() -> None:
    links = tuple(Link(span, title="x") for span in (Span(0, 7), Span(3, 9)))
    assert Reader(to_html(Document("Hamburg won.", links=links))).text == "Hamburg won."


def test_the_card_leads_with_type_and_description_and_ends_with_rivals() -> None:
    candidates = (
        Candidate("Kent County Cricket Club", score=1.3, prior=0.2, coherence=0.75),
        Candidate("Kent", score=-0.6, prior=0.8, coherence=0.25),
    )
    link = Link(
        Span(0, 4),
        "Kent County Cricket Club",
        type="organization",
        description="cricket club in England",
        confidence=0.5,
        candidates=candidates,
    )
    page = to_html(Document("Kent won.", links=(link,)))
    body = page[page.index("<body>") :]
    places = [body.index(part) for part in ("cricket club in England", "50 % sure", "Prior", "Coherence", "Rivals")]
    assert places == sorted(places)
    assert "A tick shows where Kent stands." in body
    assert body.count('data-type="organization"') == 5  # the legend, the mention, the card, its chip and the list


def test_a_nil_says_why_in_words() -> None:
    page = to_html(Document("Kent won.", links=(Link(Span(0, 4), reason="no_candidate"),)))
    assert "the knowledge base has no candidate for this name" in page
    unsure = Link(Span(0, 4), reason="below_confidence", confidence=0.254)
    assert "the best candidate is too uncertain (25 %)" in to_html(Document("Kent won.", links=(unsure,)))


def test_values_are_not_read_as_templates() -> None:
    page = to_html(Document("{{ 6 * 7 }}{% raw %}", id="{{ doc }}", links=(Link(Span(0, 11), "{{ 6 * 7 }}"),)))
    assert "42" not in page[page.index("<body>") :]
    assert Reader(page).text == "{{ 6 * 7 }}{% raw %}"


def test_entities_are_listed_once_in_the_order_of_the_text() -> None:
    kent = {"title": "Kent", "url": "https://example.org/Kent", "description": "county"}
    links = (Link(Span(9, 13), **kent), Link(Span(5, 8), reason="nil"), Link(Span(0, 4), **kent))
    page = to_html(Document("Kent won Kent", links=links))
    listed = page[page.index('<ol class="entities">') :]
    assert "One entity" in page and "3 mentions" in page
    assert (listed.count("<li>"), listed.count("https://example.org/Kent")) == (1, 1)
    assert "×2" in listed and "county" in listed
    assert "entities</h2>" not in to_html(Document("nothing"))


def test_every_part_of_a_score_has_words() -> None:
    assert tuple(PARTS) == ScoreWeights.__struct_fields__
    assert {words["bar"] for words in PARTS.values()} == {"odds", "share"}
