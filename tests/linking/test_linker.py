from __future__ import annotations

import gc
import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.config import LinkOptions, ScoreWeights, Tuned
from parlink.decision_config import Confidence
from parlink.errors import ParlinkError, TextError
from parlink.kb.surface_table import SurfaceTable
from parlink.linking.keep import keep
from parlink.linking.linker import Linker
from parlink.types import Candidate, Document, Link, Span
from tiny_model import tiny_checkpoint

EVERYTHING = LinkOptions(mention_threshold=-100.0)
TITLES = ("Hamburg", "Hamburg (film)", "Dresden", "New York", "New York City", "Jordan")


class AnyTitle:
    """A source that offers the same titles for whatever is asked."""

    def candidates(self, surface: str, *, limit: int) -> Sequence[Candidate]:
        return [Candidate(title, prior=1 / (i + 2)) for i, title in enumerate(TITLES)][:limit]


def linker(**changes: object) -> Linker:
    """In float64: batches add in another order, which float32 shows in the fifth digit of a score of 17."""
    checkpoint = tiny_checkpoint(seed=3, spread=2.0, **changes)
    checkpoint.model.double()
    return Linker(checkpoint, source=AnyTitle())


def close(a: Document, b: Document) -> None:
    """The same links with the same scores, as far as float64 goes."""
    assert [(link.span, link.title, link.reason) for link in a.links] == [
        (link.span, link.title, link.reason) for link in b.links
    ]
    for x, y in zip(a.links, b.links, strict=True):
        assert x.confidence == pytest.approx(y.confidence, rel=1e-9)
        assert [c.score for c in x.candidates] == pytest.approx([c.score for c in y.candidates], rel=1e-9)


TEXTS = st.lists(
    st.text(st.sampled_from("Hamburg Dresden to New York 😀é\r\n\t.,'"), max_size=200).map(lambda t: t * 3), max_size=5
)


@given(TEXTS, st.randoms(use_true_random=False), st.integers(64, 300))
@settings(max_examples=25, deadline=None)
def test_links_depend_neither_on_the_batch_nor_on_the_order(texts: list[str], rng: object, batch: int) -> None:
    model = linker()
    documents = [Document(text, id=str(i)) for i, text in enumerate(texts)]
    alone = {doc.id: model.link(doc, options=EVERYTHING) for doc in documents}
    rng.shuffle(documents)  # type: ignore[attr-defined]
    together = list(model.stream(documents, options=EVERYTHING, batch_tokens=batch))
    assert [doc.id for doc in together] == [doc.id for doc in documents]
    for doc in together:
        close(doc, alone[doc.id])


@given(st.text(max_size=300))
@settings(max_examples=50, deadline=None)
def test_links_are_disjoint_spans_of_the_text_in_order(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    doc = linker().link(text, options=EVERYTHING)
    assert doc.text == text
    assert all(a.span.end <= b.span.start for a, b in zip(doc.links, doc.links[1:], strict=False))
    assert all(link.span.end <= len(text) for link in doc.links)


@pytest.mark.parametrize("text", ["", " ", "\r\n\t \u200b", "\x00", "a\x00b \x00"])
def test_hardly_any_text_is_no_error(text: str) -> None:
    assert linker().link(text).text == text


def test_a_lone_surrogate_is_refused_and_fails_alone_in_a_stream() -> None:
    bad, good = Document("x \ud800 y", id="bad"), Document("Hamburg", id="good")
    with pytest.raises(TextError, match="lone surrogate at character 2"):
        linker().link(bad)
    first, second, third = linker().stream([good, bad, good])
    assert second.error is not None
    assert second.links == ()
    assert second.id == "bad"
    close(first, third)


def test_a_stream_tells_how_many_tokens_were_read() -> None:
    model = linker()
    texts = ["Hamburg beat Dresden.", "x \ud800 y", ""]
    counted = [tokens for _, tokens in model.stream_counted(texts)]
    assert counted == [len(model.tokenizer.encode(texts[0]).ids), 0, 0]


def test_what_a_process_keeps_is_no_longer_searched_for_garbage() -> None:
    before = gc.get_freeze_count()
    try:
        keep(linker())
        assert gc.get_freeze_count() > before
    finally:
        gc.unfreeze()


def test_every_document_comes_back_in_its_place() -> None:
    documents = [Document("Dresden " * (i % 7), id=str(i)) for i in range(50)]
    linked = list(linker().stream(documents, batch_tokens=64))
    assert [(doc.id, doc.text) for doc in linked] == [(doc.id, doc.text) for doc in documents]


def test_a_long_text_is_linked_in_windows() -> None:
    text = "Hamburg beat Dresden. " * 400
    doc = linker().link(text, options=EVERYTHING)
    assert doc.links[-1].span.end > len(text) - 15


def test_given_spans_are_disambiguated_as_they_are() -> None:
    text = "Hamburg beat Dresden " + "and so on " * 60
    spans = (Span(13, 20), Span(0, 7), Span(0, 20), Span(2, 9), Span(7, 8), Span(0, len(text)))
    doc = linker().link(Document(text, spans=spans))
    assert tuple(link.span for link in doc.links) == spans
    assert [link.reason for link in doc.links] == [None, None, None, None, "no_token", None]
    assert all((link.mention_logit, link.source) == (None, "given") for link in doc.links)


def test_candidates_given_for_a_span_are_the_only_ones_there() -> None:
    mine = Candidate("Hamburg Steak", id="Q1", url="https://example.org/steak")
    doc = Document(
        "Hamburg beat Dresden", spans=(Span(0, 7), Span(13, 20)), links=(Link(Span(0, 7), candidates=(mine,)),)
    )
    first, second = linker().link(doc).links
    assert (first.title, first.id, first.url) == ("Hamburg Steak", "Q1", "https://example.org/steak")
    assert {c.title for c in second.candidates} == set(TITLES)


def test_gold_titles_of_the_input_are_not_looked_at() -> None:
    doc = Document("Hamburg beat Dresden", spans=(Span(0, 7),))
    cheating = replace(doc, links=(Link(Span(0, 7), title="Jordan"),))
    close(linker().link(doc), linker().link(cheating))


def test_without_candidates_a_mention_says_so() -> None:
    nothing = linker().with_candidates(None)
    (link,) = nothing.link(Document("Hamburg", spans=(Span(0, 7),))).links
    assert (link.title, link.reason, link.candidates) == (None, "no_candidate", ())


def test_below_the_score_threshold_is_nil_with_a_reason() -> None:
    doc = Document("Hamburg", spans=(Span(0, 7),))
    (link,) = linker().link(doc, options=LinkOptions(score_threshold=1e6)).links
    assert (link.title, link.reason) == (None, "below_threshold")
    assert link.candidates


def test_titles_restrict_a_call() -> None:
    doc = Document("Hamburg beat Dresden", spans=(Span(0, 7), Span(13, 20)))
    linked = linker().link(doc, options=LinkOptions(titles=("Jordan", "Dresden")))
    assert {c.title for link in linked.links for c in link.candidates} == {"Jordan", "Dresden"}


def test_titles_restrict_a_call_before_candidates_are_cut_off() -> None:
    options = LinkOptions(titles=(TITLES[-1],), max_candidates=2)
    (link,) = linker().link(Document("Hamburg", spans=(Span(0, 7),)), options=options).links
    assert [candidate.title for candidate in link.candidates] == [TITLES[-1]]


class Unreadable(AnyTitle):
    """A source that cannot say anything of one surface."""

    def candidates(self, surface: str, *, limit: int) -> Sequence[Candidate]:
        if surface == "Dresden":
            raise ParlinkError("cannot be read")
        return super().candidates(surface, limit=limit)


def test_a_document_that_cannot_be_linked_fails_alone_in_a_stream() -> None:
    model = linker().with_candidates(Unreadable())
    documents = [Document(name, spans=(Span(0, len(name)),)) for name in ("Hamburg", "Dresden", "New York")]
    first, second, third = model.stream(documents)
    assert (second.links, second.error) == ((), "cannot be read")
    assert first.links[0].title
    close(third, linker().link(documents[2]))


def test_a_stream_of_documents_without_text_flows() -> None:
    endless = (Document("", id=str(number)) for number in itertools.count())
    flowing = linker().stream(endless, batch_tokens=4)
    assert [doc.id for doc in itertools.islice(flowing, 40)] == [str(number) for number in range(40)]


def test_the_score_is_the_sum_of_its_weighted_parts() -> None:
    weights = ScoreWeights(lm=0.5, classifier=2.0, prior=0.25)
    (link,) = linker().link(Document("Jordan", spans=(Span(0, 6),)), options=LinkOptions(weights=weights)).links
    for c in link.candidates:
        assert None not in (c.score, c.lm, c.classifier, c.prior)
        parts = 0.5 * c.lm, 2.0 * c.classifier, 0.25 * math.log(c.prior)  # type: ignore[operator,arg-type]
        assert c.score == pytest.approx(sum(parts), abs=1e-6 * max(map(abs, parts)))
    assert link.title == link.candidates[0].title
    assert [c.score for c in link.candidates] == sorted((c.score for c in link.candidates), reverse=True)  # type: ignore[type-var]


def test_a_wide_beam_finds_what_complete_scoring_finds() -> None:
    doc = Document("Hamburg beat Dresden", spans=(Span(0, 7), Span(13, 20)))
    close(linker().link(doc), linker().link(doc, options=LinkOptions(search="beam", beams=50)))


def test_nil_competes_where_the_model_knows_it() -> None:
    doc = Document("Hamburg beat Dresden to New York", spans=tuple(Span(i, i + 5) for i in range(0, 25, 5)))
    with_nil = [link for seed in range(6) for link in linker_with_nil(seed).link(doc).links]
    assert {link.reason for link in with_nil} == {None, "nil"}
    assert all("" not in [c.title for c in link.candidates] for link in with_nil)


def test_the_confidence_is_computed_from_what_it_was_fitted_on() -> None:
    """The margin is that to the second candidate shown: NIL is in no list that `tune` sees."""
    checkpoint = tiny_checkpoint(seed=1, spread=3.0, nil=True)
    own = Confidence(bias=0.0, mention_logit=0.0, total=0.0, margin=1.0, log_prior=0.0)
    doc = Document("The coach of Hamburg praised Kent and Dresden .")
    fitted = Linker(replace(checkpoint, tuned=Tuned(mention_threshold=-5.0, confidence=own)), source=AnyTitle())
    links = [link for link in fitted.link(doc).links if link.title is not None]
    assert links
    for link in links:
        first, second = (candidate.score or 0.0 for candidate in link.candidates[:2])
        assert link.confidence == pytest.approx(
            own.probability(mention_logit=0, total=0, margin=first - second, prior=1)
        )


def test_a_confidence_that_was_fitted_to_other_weights_does_not_apply() -> None:
    own = Confidence(bias=-30.0, mention_logit=0.0, total=0.0, margin=0.0, log_prior=0.0)
    tuned = Tuned(confidence=own, weights=ScoreWeights(prior=0.5))
    fitted = Linker(replace(tiny_checkpoint(seed=3, spread=2.0), tuned=tuned), source=AnyTitle())
    doc = Document("Hamburg", spans=(Span(0, 7),))
    scores = [
        fitted.link(doc, options=LinkOptions(weights=weights)).links[0].confidence or 0.0
        for weights in (None, ScoreWeights(prior=0.5), ScoreWeights(prior=2.0))
    ]
    assert scores[0] == scores[1] < 1e-9
    assert scores[2] > 0.01


def test_a_document_that_failed_before_has_no_error_once_it_is_linked() -> None:
    again = linker().link(Document("Hamburg", spans=(Span(0, 7),), error="could not be linked"))
    assert again.error is None and again.links[0].title is not None


def linker_with_nil(seed: int) -> Linker:
    return Linker(tiny_checkpoint(seed=seed, spread=3.0, nil=True), source=AnyTitle())


def test_a_search_over_all_titles_needs_a_knowledge_base() -> None:
    nothing = linker().with_candidates(None)
    with pytest.raises(ParlinkError, match="knowledge base"):
        nothing.link(Document("Hamburg", spans=(Span(0, 7),)), options=LinkOptions(fallback=True))


def test_a_table_of_surfaces_is_a_source() -> None:
    table = SurfaceTable({"Hamburg": (Candidate("Hamburg", prior=1.0),)})
    doc = linker().with_candidates(table).link(Document("Hamburg beat Dresden", spans=(Span(0, 7), Span(13, 20))))
    assert [(link.title, link.reason) for link in doc.links] == [("Hamburg", None), (None, "no_candidate")]


def test_tuned_values_hold_unless_options_replace_them() -> None:
    checkpoint = tiny_checkpoint(seed=3, spread=2.0)
    never = replace(checkpoint, tuned=msgspec.structs.replace(checkpoint.tuned, mention_threshold=1e6))
    model = Linker(never, source=AnyTitle())
    assert model.link("Hamburg beat Dresden").links == ()
    assert model.link("Hamburg beat Dresden", options=EVERYTHING).links
