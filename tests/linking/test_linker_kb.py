"""A linker with a knowledge base: names, ids and URLs in the links, changes at once, search over all titles."""

from __future__ import annotations

from pathlib import Path

from parlink.config import LinkOptions
from parlink.linking.linker import Linker
from parlink.types import Document, Entity, Span
from tiny_kb import tiny_kb
from tiny_model import tiny_checkpoint

EVERY_TITLE = LinkOptions(fallback=True, beams=100, max_candidates=1000)


def linker(folder: Path) -> Linker:
    kb = tiny_kb(folder, url_template="https://example.org/{title}")
    return Linker(tiny_checkpoint(seed=4, spread=2.0), kb=kb, source=kb)


def titles(doc: Document) -> list[set[str]]:
    return [{c.title for c in link.candidates} for link in doc.links]


def test_links_carry_id_url_step_and_the_name_of_the_kb(tmp_path: Path) -> None:
    model = linker(tmp_path)
    doc = model.link(Document("HSV won", spans=(Span(0, 3),)))
    assert model.kb is not None
    assert doc.kb == model.kb.name
    (link,) = doc.links
    assert {(c.title, c.id, c.url, c.match_type) for c in link.candidates} == {
        ("Hamburg", "Q1055", "https://example.org/Hamburg", "exact"),
        ("Hamburger SV", "Q51974", "https://example.org/Hamburger_SV", "exact"),
    }
    assert (link.id, link.url) == next((c.id, c.url) for c in link.candidates if c.title == link.title)


def test_links_carry_a_description_and_who_proposed_the_mention(tmp_path: Path) -> None:
    model = linker(tmp_path)
    (link,) = model.link(Document("Emma Oberländer", spans=(Span(0, 15),))).links
    assert (link.title, link.description, link.source) == ("Emma Oberländer", "painter", "given")
    links = model.link("Kent", options=LinkOptions(mention_threshold=-100.0)).links
    assert {link.source for link in links} == {"detector"}


def test_a_change_is_seen_by_the_next_link(tmp_path: Path) -> None:
    model = linker(tmp_path)
    assert model.kb is not None
    ask = Document("Bremen lost", spans=(Span(0, 6),))
    assert model.link(ask).links[0].reason == "no_candidate"
    before = model.kb.name
    model.kb.add(Entity("SV Werder Bremen", id="Q51976"), aliases=["Bremen"])
    doc = model.link(ask)
    assert (doc.links[0].title, doc.links[0].id) == ("SV Werder Bremen", "Q51976")
    assert doc.kb not in (None, before)
    model.kb.rename("SV Werder Bremen", "Werder")
    assert model.link(ask).links[0].title == "Werder"
    model.kb.remove("Werder")
    assert model.link(ask).links[0].reason == "no_candidate"


def test_a_wide_search_finds_every_title_and_scores_it_as_ranking_does(tmp_path: Path) -> None:
    model = linker(tmp_path)
    assert model.kb is not None
    model.kb.add(Entity("Bremen"))
    model.kb.remove("Hamburg")
    spans = (Span(0, 6), Span(7, 11))
    ask = Document("Bremen Kent", spans=spans)
    searched = model.with_candidates(None).link(ask, options=EVERY_TITLE)
    everything = set(model.kb.titles())
    assert "Bremen" in everything
    assert "Hamburg" not in everything
    assert titles(searched) == [everything, everything]
    ranked = {c.title: c for c in model.link(ask).links[1].candidates}
    found = {c.title: c for c in searched.links[1].candidates}
    for title, candidate in ranked.items():
        assert abs((candidate.lm or 0.0) - (found[title].lm or 0.0)) < 1e-5
        assert abs((candidate.classifier or 0.0) - (found[title].classifier or 0.0)) < 1e-5


def test_fallback_is_only_for_mentions_without_candidates(tmp_path: Path) -> None:
    model = linker(tmp_path)
    doc = model.link(Document("Bremen HSV", spans=(Span(0, 6), Span(7, 10))), options=EVERY_TITLE)
    assert {c.match_type for c in doc.links[0].candidates} == {"search"}
    assert titles(doc)[1] == {"Hamburg", "Hamburger SV"}


def test_titles_restrict_a_search_too(tmp_path: Path) -> None:
    options = LinkOptions(fallback=True, beams=100, titles=("Kent", "Zürich"))
    doc = linker(tmp_path).link(Document("Bremen", spans=(Span(0, 6),)), options=options)
    assert titles(doc) == [{"Kent", "Zürich"}]
