"""Why a link was made, and what would have changed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from parlink.config import LinkOptions, ScoreWeights, Tuned
from parlink.decision_config import Decision, Regression
from parlink.linking.explain import explain, explain_link, weighted_parts
from parlink.linking.linker import Linker
from parlink.types import Candidate, Document, Link, Span
from tiny_kb import tiny_kb
from tiny_model import tiny_checkpoint

DECISION = Decision(
    found=Regression(bias=0.0, weights={"start": 2.0, "linked": -0.5}),
    given=Regression(bias=0.0, weights={}),
    min_confidence=0.4,
    proposal_threshold=-3.0,
)
SETTINGS = LinkOptions().resolve(Tuned(weights=ScoreWeights(prior=1.0, coherence=2.0), decision=DECISION))
CLUB = Candidate("Kent County Cricket Club", score=1.5, lm=-0.5, classifier=1.0, prior=1.0, coherence=0.5)
KENT = Candidate("Kent", score=1.0, lm=0.0, classifier=1.0, prior=1.0, coherence=0.0)


def lines(link: Link, *answer: Link) -> str:
    return "\n".join(explain_link(link, Document("Kent won", links=answer or (link,)), SETTINGS))


def test_a_link_says_what_decided_and_what_would_have_changed_it() -> None:
    link = Link(
        Span(0, 4),
        CLUB.title,
        confidence=0.8,
        source="dictionary",
        mention_logit=0.7,
        mention_probability=0.5,
        candidates=(CLUB, KENT),
    )
    said = lines(link)
    assert "'Kent' at 0: Kent County Cricket Club, confidence 0.80" in said
    assert "by the dictionary" in said and "log-odds of 0.7" in said
    assert "ahead of Kent by 0.50; without coherence it would be Kent" in said
    assert "confidence 0.80 by start +1.4" in said
    assert "a --min-confidence above 0.80 would not link it" in said
    longer = Link(Span(0, 8), "Kent won", confidence=0.9)
    assert "gave way to 'Kent won'" in lines(link, longer)


def test_a_span_that_is_not_linked_says_what_would_link_it() -> None:
    unsure = Link(Span(0, 4), confidence=0.25, reason="below_confidence", source="given", candidates=(CLUB,))
    said = lines(unsure)
    assert "not linked (below_confidence)" in said and "--min-confidence 0.25 would link it" in said
    assert "given with the text" in said and "there is no other candidate" in said
    assert lines(Link(Span(0, 4), reason="no_candidate")).count("\n") == 1


def test_a_name_of_ones_own_is_explained_by_what_decided_it() -> None:
    sure = Link(
        Span(0, 4), CLUB.title, confidence=0.5, source="dictionary", mention_logit=-2.0, candidates=(CLUB, KENT)
    )
    said = lines(sure)
    assert "linked from a confidence of 0.00 on" in said and "start -4.0" not in said


def test_the_parts_add_up_to_the_score_for_any_text(tmp_path: Path) -> None:
    kb = tiny_kb(tmp_path)
    model = Linker(tiny_checkpoint(seed=4, spread=2.0), kb=kb, source=kb)
    options = LinkOptions(dictionary=True, weights=ScoreWeights(prior=0.5))
    for link in model.link("Kent and HSV", options=options).links:
        for candidate in link.candidates:
            parts = weighted_parts(candidate, ScoreWeights(prior=0.5))
            assert sum(parts.values()) == pytest.approx(candidate.score, rel=1e-4, abs=1e-4)
    said = explain(model, "Kent and HSV", options=options)
    assert "'Kent' at 0" in said and "'HSV' at 9" in said
    assert explain(model, "", options=options) == "no span of the text was looked at\n"
