"""Link or NIL: one link, made once, that says why."""

from __future__ import annotations

import pytest

from parlink.config import LinkOptions, Tuned
from parlink.linking.decision import decide
from parlink.linking.mentions import Mention
from parlink.types import Candidate, Entity, Span

KENT = Candidate("Kent", id="Q23298", score=2.0, prior=0.8, url="https://example.org/Kent")
BAND = Candidate("Kent (band)", score=1.0)
MENTION = Mention(0, Span(0, 4), "detector", logit=1.5, probability=0.75)


def describe(title: str) -> Entity | None:
    known = {"Kent": Entity("Kent", id="other", type="county", description="county in England", url="other")}
    return known.get(title)


def test_a_link_holds_what_is_known_of_its_mention_and_of_its_entity() -> None:
    link = decide(MENTION, [KENT, BAND], LinkOptions().resolve(Tuned()), describe=describe)
    assert (link.title, link.id, link.url) == ("Kent", "Q23298", "https://example.org/Kent")
    assert (link.type, link.description, link.reason) == ("county", "county in England", None)
    assert (link.source, link.mention_logit, link.mention_probability) == ("detector", 1.5, 0.75)
    assert link.candidates == (KENT, BAND)
    unknown = decide(MENTION, [BAND], LinkOptions().resolve(Tuned()), describe=describe)
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
    link = decide(MENTION, candidates, options.resolve(Tuned()), describe=describe)
    assert (link.title, link.id, link.type, link.description, link.url) == (None,) * 5
    assert (link.reason, link.source) == (reason, "detector")
    assert link.candidates == tuple(candidate for candidate in candidates if candidate.title)
