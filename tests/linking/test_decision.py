"""Link or NIL: one link, made once, that says why."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlink.config import LinkOptions, ScoreWeights, Tuned
from parlink.decision_config import Decision, Regression
from parlink.errors import ConfigError
from parlink.kb.tables import Linked
from parlink.linking.decision import decide, decide_documents
from parlink.linking.mentions import Mention
from parlink.linking.overlaps import keep_longest, lies_within, resolve
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


@pytest.mark.parametrize(
    ("match_type", "logit", "title"),
    [("exact", -3.0, "Kent"), ("folded", -3.0, "Kent"), ("title", -3.0, "Kent"), ("part", -3.0, None),
     ("variant", -3.0, None), ("variant", 0.1, "Kent"), ("document", 0.1, None)],
)  # fmt: skip
def test_what_is_spelled_as_a_name_of_ones_own_kb_is_a_mention(
    match_type: str, logit: float, title: str | None
) -> None:
    mention = Mention(0, Span(0, 4), "detector", logit=logit, probability=0.1)
    settings = LinkOptions().resolve(Tuned(decision=DECISION))
    choice = [replace(KENT, match_type=match_type), BAND]
    assert decide(mention, choice, settings, surface="kent", describe=describe, own_kb=True).title == title
    assert decide(mention, choice, settings, surface="kent", describe=describe, own_kb=False).title is None


def test_what_lies_within_a_longer_name_of_ones_own_is_not_linked() -> None:
    doc, settings = Document("Kent pump X2, Kent"), LinkOptions().resolve(Tuned(decision=DECISION))
    longer = Mention(0, Span(0, 12), "dictionary", logit=-3.0, probability=0.1, is_name=True)
    mentions = [longer, *(Mention(0, Span(*at), "detector", 9.0, 0.9) for at in ((0, 4), (10, 12), (14, 18)))]
    for linked, titles in ((None, ["Kent", "Kent"]), (Linked(0.9, is_guess=False), ["Kent", "Kent", "Kent"])):
        (links,) = decide_documents(
            [doc], mentions, [[KENT]] * 4, settings, describe=describe, linked_by=lambda _, known=linked: known,
            own_kb=False,
        )  # fmt: skip
        answer = resolve(doc, links, settings, kb=None).links
        assert [link.title for link in answer] == titles
    assert [link.reason for link in links] == ["below_confidence", None, None, None]


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


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 6)).map(lambda at: Span(at[0], at[0] + at[1]))))
def test_within_a_longer_span_is_what_a_plain_loop_says(spans: list[Span]) -> None:
    longest = keep_longest(spans)
    for span in spans:
        longer = [other for other in spans if other.start <= span.start and span.end <= other.end and other != span]
        assert lies_within(span, longest) == bool(longer)
        assert (span in longest) == (not longer)


def test_a_regression_of_unknown_features_is_refused() -> None:
    with pytest.raises(ConfigError, match="knows no feature 'weather'"):
        regression(0.0, weather=1.0)


@pytest.mark.parametrize("options", [LinkOptions(score_threshold=2.0), LinkOptions(min_confidence=0.75)])
def test_what_is_exactly_at_a_threshold_is_linked(options: LinkOptions) -> None:
    link = decide(MENTION, [KENT], options.resolve(Tuned()), surface="Kent", describe=describe)
    assert (link.confidence, link.title, link.reason) == (0.75, "Kent", None)
