"""Link or NIL: one link, made once, that says why."""

from __future__ import annotations

import math

import pytest

from parlink.config import Decision, LinkOptions, Regression, ScoreWeights, Tuned
from parlink.errors import ConfigError
from parlink.kb.tables import Linked
from parlink.linking.decision import decide
from parlink.linking.mentions import Mention
from parlink.linking.overlaps import resolve
from parlink.types import Candidate, Document, Entity, Link, Span

KENT = Candidate("Kent", id="Q23298", score=2.0, prior=0.8, url="https://example.org/Kent")
BAND = Candidate("Kent (band)", score=1.0)
MENTION = Mention(0, Span(0, 4), "detector", logit=1.5, probability=0.75)


def describe(title: str) -> Entity | None:
    known = {"Kent": Entity("Kent", id="other", type="county", description="county in England", url="other")}
    return known.get(title)


def test_a_link_holds_what_is_known_of_its_mention_and_of_its_entity() -> None:
    link = decide(MENTION, [KENT, BAND], LinkOptions().resolve(Tuned()), surface="Kent", describe=describe)
    assert (link.title, link.id, link.url) == ("Kent", "Q23298", "https://example.org/Kent")
    assert (link.type, link.description, link.reason) == ("county", "county in England", None)
    assert (link.source, link.mention_logit, link.mention_probability) == ("detector", 1.5, 0.75)
    assert link.candidates == (KENT, BAND)
    unknown = decide(MENTION, [BAND], LinkOptions().resolve(Tuned()), surface="Kent", describe=describe)
    assert (unknown.title, unknown.type, unknown.description) == ("Kent (band)", None, None)


@pytest.mark.parametrize(
    ("candidates", "options", "reason"),
    [
        ([], LinkOptions(), "no_candidate"),
        ([Candidate("", score=3.0), KENT], LinkOptions(), "nil"),
        ([KENT, BAND], LinkOptions(score_threshold=2.5), "below_threshold"),
        ([KENT, BAND], LinkOptions(min_confidence=0.99), "below_confidence"),
    ],
)
def test_nil_says_why(candidates: list[Candidate], options: LinkOptions, reason: str) -> None:
    link = decide(MENTION, candidates, options.resolve(Tuned()), surface="Kent", describe=describe)
    assert (link.title, link.id, link.type, link.description, link.url) == (None,) * 5
    assert (link.reason, link.source) == (reason, "detector")
    assert link.candidates == tuple(candidate for candidate in candidates if candidate.title)


def regression(bias: float, **weights: float) -> Regression:
    return Regression(bias=bias, weights=weights)


DECISION = Decision(
    found=regression(-1.0, start=1.0), given=regression(-2.0), min_confidence=0.6, proposal_threshold=-3.0
)


def test_a_fitted_decision_links_where_it_is_sure_enough() -> None:
    settings = LinkOptions().resolve(Tuned(decision=DECISION, score_threshold=100.0))
    for logit, title in ((2.0, "Kent"), (1.0, None)):
        mention = Mention(0, Span(0, 4), "detector", logit=logit, probability=0.5)
        link = decide(mention, [KENT, BAND], settings, surface="Kent", describe=describe)
        assert link.title == title and link.confidence == pytest.approx(1 / (1 + math.exp(1 - logit)))
        assert link.reason == (None if title else "below_confidence")


def test_a_given_span_is_linked_unless_the_caller_says_how_sure_to_be() -> None:
    mention, tuned = Mention(0, Span(0, 4), "given"), Tuned(decision=DECISION)
    for least, title in ((None, "Kent"), (0.5, None)):
        settings = LinkOptions(min_confidence=least).resolve(tuned)
        link = decide(mention, [KENT, BAND], settings, surface="Kent", describe=describe)
        assert (link.title, link.confidence) == (title, pytest.approx(1 / (1 + math.exp(2))))


def test_a_name_of_ones_own_kb_is_a_mention_beyond_doubt() -> None:
    settings = LinkOptions().resolve(Tuned(decision=DECISION))
    mention = Mention(0, Span(0, 4), "dictionary", logit=-9.0, probability=0.001, is_name=True)
    for linked, log_odds, title in ((None, -2.0, "Kent"), (Linked(0.5, is_guess=False), -10.0, None)):
        link = decide(
            mention, [KENT, BAND], settings, surface="Kent", describe=describe, linked_by=lambda _, known=linked: known
        )
        assert link.confidence == pytest.approx(1 / (1 + math.exp(-log_odds))) and link.title == title
    detected = Mention(0, Span(0, 4), "detector", logit=0.1, probability=0.5)
    for own_kb, title in ((True, "Kent"), (False, None)):
        link = decide(detected, [KENT, BAND], settings, surface="Kent", describe=describe, own_kb=own_kb)
        assert link.title == title


def test_a_decision_looks_at_more_spans_than_it_tells_of() -> None:
    settings = LinkOptions().resolve(Tuned(decision=DECISION, mention_threshold=0.5))
    assert (settings.proposal_threshold, settings.mention_threshold) == (-3.0, 0.5)
    unlinked = [Link(Span(i, i + 1), source="detector", mention_logit=logit) for i, logit in enumerate((0.0, 1.0))]
    unlinked.append(Link(Span(5, 6), source="dictionary", mention_logit=3.0))
    doc = resolve(Document("012345"), unlinked, settings, kb=None)
    assert [link.span.start for link in doc.links] == [1]
    asked = LinkOptions(mention_threshold=1.0).resolve(Tuned(decision=DECISION))
    assert (asked.proposal_threshold, asked.mention_threshold) == (1.0, 1.0)


def test_a_decision_does_not_hold_for_other_weights() -> None:
    assert LinkOptions(weights=ScoreWeights(lm=2.0)).resolve(Tuned(decision=DECISION)).decision is None


def test_of_links_that_overlap_the_surest_stay() -> None:
    def link(start: int, end: int, title: str | None, confidence: float) -> Link:
        return Link(Span(start, end), title=title, confidence=confidence, source="detector", mention_logit=1.0)

    settings = LinkOptions().resolve(Tuned(decision=DECISION))
    links = [link(0, 9, "long", 0.8), link(0, 4, "short", 0.7), link(5, 9, None, 0.5)]
    assert [each.title for each in resolve(Document("012345678"), links, settings, kb=None).links] == ["long"]
    links[2] = link(5, 9, "end", 0.3)
    assert [each.title for each in resolve(Document("012345678"), links, settings, kb=None).links] == ["short", "end"]


def test_a_regression_of_unknown_features_is_refused() -> None:
    with pytest.raises(ConfigError, match="knows no feature 'weather'"):
        regression(0.0, weather=1.0)


@pytest.mark.parametrize("options", [LinkOptions(score_threshold=2.0), LinkOptions(min_confidence=0.75)])
def test_what_is_exactly_at_a_threshold_is_linked(options: LinkOptions) -> None:
    link = decide(MENTION, [KENT], options.resolve(Tuned()), surface="Kent", describe=describe)
    assert (link.confidence, link.title, link.reason) == (0.75, "Kent", None)
