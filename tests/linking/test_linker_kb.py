"""A linker with a knowledge base: names, ids and URLs in the links, changes at once, search over all titles."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.config import LinkOptions, ScoreWeights
from parlink.kb import KnowledgeBase
from parlink.linking.linker import Linker
from parlink.types import Document, Entity, Span
from tiny_kb import tiny_kb, write_lines
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


TITLES = [f"{first} {second}" for first in ("Hamburg", "Kent", "Bonn") for second in ("Elbe", "Rhein", "Isar")]
CHANGES = st.lists(
    st.tuples(st.sampled_from(["remove", "rename", "add"]), st.sampled_from(TITLES), st.sampled_from(["A", "B", "C"])),
    max_size=8,
)


def change(kb: KnowledgeBase, changes: list[tuple[str, str, str]]) -> None:
    for what, title, word in changes:
        new = f"{title.split()[0]} {word}"
        if what == "add" and new not in kb:
            kb.add(Entity(new))
        elif what == "rename" and title in kb and new not in kb:
            kb.rename(title, new)
        elif what == "remove" and title in kb and len(kb) > 1:
            kb.remove(title)


@settings(max_examples=30, deadline=None)
@given(changes=CHANGES, beams=st.integers(1, 3), seed=st.integers(0, 9))
def test_a_search_over_a_changed_kb_is_one_over_a_kb_built_anew(
    changes: list[tuple[str, str, str]], beams: int, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("kb")
    changed = tiny_kb(folder / "changed", [{"title": title} for title in TITLES])
    change(changed, changes)
    anew = tiny_kb(folder / "anew", [{"title": title} for title in changed.titles()])
    ask, options = Document("Elbe", spans=(Span(0, 4),)), LinkOptions(fallback=True, beams=beams)
    first, second = (
        Linker(tiny_checkpoint(seed=seed, spread=3.0), kb=kb).link(ask, options=options).links[0].candidates
        for kb in (changed, anew)
    )
    assert [candidate.title for candidate in first] == [candidate.title for candidate in second] != []
    assert [c.score for c in first] == pytest.approx([c.score for c in second], rel=1e-4)


def test_what_is_removed_leaves_its_places_in_the_beam_to_others(tmp_path: Path) -> None:
    kb = tiny_kb(tmp_path, [{"title": title} for title in TITLES[:8]])
    model, options = Linker(tiny_checkpoint(seed=4, spread=2.0), kb=kb), LinkOptions(fallback=True, beams=2)
    ask = Document("Elbe", spans=(Span(0, 4),))
    best = [candidate.title for candidate in model.link(ask, options=options).links[0].candidates]
    assert len(best) == 2
    for title in best:
        kb.remove(title)
    others = [candidate.title for candidate in model.link(ask, options=options).links[0].candidates]
    assert len(others) == 2 and not set(others) & set(best)


def test_a_document_sees_one_state_of_a_kb_that_changes_while_it_is_linked(tmp_path: Path) -> None:
    model = linker(tmp_path)
    kb = model.kb
    assert kb is not None
    before, ask = kb.name, Document("HSV Kent Bremen", spans=(Span(0, 3), Span(4, 8), Span(9, 15)))
    wanted = model.link(ask, options=EVERY_TITLE)

    def interfere(_share: float) -> None:
        for title in ("Hamburg", "Kent"):
            if title in kb:
                kb.remove(title)
        if "Bremen" not in kb:
            kb.add(Entity("Bremen"))

    linked = model.link(ask, options=EVERY_TITLE, progress=interfere)
    assert linked == wanted and linked.kb == before
    assert model.link(ask, options=EVERY_TITLE).links[2].candidates[0].match_type == "exact"


def test_fallback_is_only_for_mentions_without_candidates(tmp_path: Path) -> None:
    model = linker(tmp_path)
    doc = model.link(Document("Bremen HSV", spans=(Span(0, 6), Span(7, 10))), options=EVERY_TITLE)
    assert {c.match_type for c in doc.links[0].candidates} == {"search"}
    assert titles(doc)[1] == {"Hamburg", "Hamburger SV"}


def test_titles_restrict_a_search_too(tmp_path: Path) -> None:
    options = LinkOptions(fallback=True, beams=100, titles=("Kent", "Zürich"))
    doc = linker(tmp_path).link(Document("Bremen", spans=(Span(0, 6),)), options=options)
    assert titles(doc) == [{"Kent", "Zürich"}]


def graph_linker(folder: Path) -> Linker:
    pages = [
        {"title": "Cricket", "links": ["Kent County Cricket Club", "Zürich"]},
        {"title": "Bats", "links": ["Kent County Cricket Club", "Zürich"]},
        {"title": "England", "links": ["Kent"]},
    ]
    kb = tiny_kb(folder, links=[write_lines(folder / "pages.jsonl", pages)])
    return Linker(tiny_checkpoint(seed=4, spread=2.0), kb=kb, source=kb)


def test_candidates_are_supported_by_what_else_the_document_names(tmp_path: Path) -> None:
    model = graph_linker(tmp_path)
    doc = Document("Kent in Zürich", spans=(Span(0, 4), Span(8, 14)))
    alone = model.link(doc, options=LinkOptions(weights=ScoreWeights()))
    supported = model.link(doc, options=LinkOptions(weights=ScoreWeights(coherence=100.0)))
    assert all(c.coherence is None for link in alone.links for c in link.candidates)
    before = {c.title: c for c in alone.links[0].candidates}
    for candidate in supported.links[0].candidates:
        parts = before[candidate.title].score, candidate.coherence
        assert candidate.score == pytest.approx(parts[0] + 100.0 * parts[1])  # type: ignore[operator]
    support = {c.title: c.coherence for c in supported.links[0].candidates}
    assert support == {"Kent": 0.0, "Kent (band)": 0.0, "Kent County Cricket Club": support["Kent County Cricket Club"]}
    assert supported.links[0].title == "Kent County Cricket Club"


def test_coherence_does_not_depend_on_what_is_linked_together(tmp_path: Path) -> None:
    model = graph_linker(tmp_path)
    docs = [Document(f"{name} in Zürich", spans=(Span(0, 4), Span(8, 14))) for name in ("Kent", "Bern", "KENT")]
    options = LinkOptions(weights=ScoreWeights(coherence=5.0))
    for alone, together in zip(
        (model.link(d, options=options) for d in docs), model.link(docs, options=options), strict=True
    ):
        for one, other in zip(alone.links, together.links, strict=True):
            assert one.title == other.title
            ours, theirs = ([c.coherence for c in link.candidates] for link in (one, other))
            assert ours == pytest.approx(theirs, rel=1e-5)


def test_names_of_the_kb_are_proposed_and_judged_by_the_detector(tmp_path: Path) -> None:
    model, text = linker(tmp_path), "Emma Oberländer saw Kent play kent"
    everything = model.link(text, options=LinkOptions(mention_threshold=-100.0, overlaps="keep")).links
    found = model.link(text, options=LinkOptions(mention_threshold=100.0, dictionary=True)).links
    assert [(text[link.span.start : link.span.end], link.source) for link in found] == [
        ("Emma Oberländer", "dictionary"),
        ("Kent", "dictionary"),
    ]
    logits = {link.span.start: link.mention_logit for link in everything}
    assert [link.mention_logit for link in found] == pytest.approx([logits[link.span.start] for link in found])
    assert all(0 <= (link.mention_probability or 0.0) <= 1 for link in found)
    assert not model.link(text, options=LinkOptions(mention_threshold=100.0)).links
    given = Document(text, spans=(Span(20, 24),))
    assert [link.source for link in model.link(given, options=LinkOptions(dictionary=True)).links] == ["given"]


def test_a_name_that_is_detected_too_is_one_mention(tmp_path: Path) -> None:
    model = linker(tmp_path)
    options = LinkOptions(mention_threshold=-100.0, dictionary=True, overlaps="keep")
    links = model.link("Kent in Hamburg, Kent in Kent", options=options).links
    spans = {source: {link.span for link in links if link.source == source} for source in ("detector", "dictionary")}
    assert spans["dictionary"] and not spans["detector"] & spans["dictionary"]
