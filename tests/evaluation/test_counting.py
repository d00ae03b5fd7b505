"""The definition, against a plain second writing of it, on random documents."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.evaluation import counting
from parlink.evaluation.conditions import Condition
from parlink.evaluation.counting import NO_CANDIDATE, Rules
from parlink.evaluation.errors import LinkError, link_errors
from parlink.evaluation.matching import Match
from parlink.evaluation.metrics import Counts
from parlink.types import Candidate, Document, Link, Span

TEXT = "Kent play at Leicester in kent today"
SPANS = [Span(0, 4), Span(0, 9), Span(13, 22), Span(13, 18), Span(26, 30), Span(31, 36)]
CANDIDATES = [
    (),
    (Candidate("A"),),
    (Candidate("A", prior=0.2), Candidate("B", prior=0.8)),
    (Candidate("C", prior=1.0),),
]
SAID = [("A", None), ("B", None), (None, NO_CANDIDATE), (None, "nil")]
LINKS = st.builds(
    lambda span, said, candidates: Link(span, said[0], reason=said[1], candidates=candidates),
    st.sampled_from(SPANS),
    st.sampled_from(SAID),
    st.sampled_from(CANDIDATES),
)
DOCUMENTS = st.lists(LINKS, max_size=6).map(lambda links: Document(TEXT, links=tuple(links)))
RULES = st.builds(Rules, st.just(Match.STRONG), st.sampled_from([None, *Condition]))


def naive(gold: Document, predicted: Document, strict: bool) -> Counts:
    """GERBIL's strong annotation match, InKB, by multisets."""
    wanted = Counter((link.span, link.title) for link in gold.links if link.title)
    found = Counter((link.span, link.title) for link in predicted.links if link.title)
    if strict:
        found += Counter((link.span, None) for link in predicted.links if link.reason == "no_candidate")
    tp = (wanted & found).total()
    return Counts(tp, found.total() - tp, wanted.total() - tp)


@settings(deadline=None)
@given(DOCUMENTS, DOCUMENTS, RULES)
def test_inkb_is_the_intersection_of_multisets_after_the_filter(gold: Document, found: Document, rules: Rules) -> None:
    expected = naive(gold, found, rules.condition is Condition.GIVEN_STRICT)
    assert counting.inkb(gold, found, rules) == expected


@settings(deadline=None)
@given(DOCUMENTS, DOCUMENTS, RULES)
def test_detection_inkb_compares_the_spans_left_after_the_filter(gold: Document, found: Document, rules: Rules) -> None:
    wanted = Counter(link.span for link in gold.links if link.title)
    left = Counter(link.span for link in counting.asserted_links(found, rules))
    tp = (wanted & left).total()
    assert counting.inkb(gold, found, rules, counting.spans) == Counts(tp, left.total() - tp, wanted.total() - tp)


@settings(deadline=None)
@given(DOCUMENTS, DOCUMENTS)
def test_with_nil_a_predicted_nil_on_a_gold_nil_is_right(gold: Document, found: Document) -> None:
    wanted = Counter((link.span, link.title) for link in gold.links)
    all_found = Counter((link.span, link.title) for link in found.links)
    tp = (wanted & all_found).total()
    assert counting.with_nil(gold, found, Rules()) == Counts(tp, all_found.total() - tp, wanted.total() - tp)


@settings(deadline=None)
@given(DOCUMENTS, DOCUMENTS, RULES)
def test_halves_add_up(gold: Document, found: Document, rules: Rules) -> None:
    seen = counting.of_entities(gold, found, rules, lambda title: title == "A")
    unseen = counting.of_entities(gold, found, rules, lambda title: title != "A")
    assert seen + unseen == counting.inkb(gold, found, rules)


@settings(deadline=None)
@given(DOCUMENTS, DOCUMENTS, RULES, st.sampled_from(list(Match)))
def test_errors_are_exactly_the_false_positives_and_negatives(
    gold: Document, found: Document, rules: Rules, match: Match
) -> None:
    rules = Rules(match, rules.condition)
    counts = counting.inkb(gold, found, rules)
    groups = Counter(error.kind.group for error in link_errors(gold, found, rules))
    assert groups["missed"] + groups["wrong entity"] == counts.fn
    assert groups["false detection"] + groups["wrong entity"] == counts.fp


@settings(deadline=None)
@given(DOCUMENTS, DOCUMENTS, RULES)
def test_a_weak_match_is_never_less(gold: Document, found: Document, rules: Rules) -> None:
    weak = Rules(Match.WEAK, rules.condition)
    assert counting.inkb(gold, found, weak).tp >= counting.inkb(gold, found, rules).tp


def test_the_written_rules_one_by_one() -> None:
    kent, nil = Link(SPANS[0], "Kent County Cricket Club"), Link(SPANS[2], None)
    gold = Document(TEXT, links=(kent, nil))

    def counts(*links: Link, condition: Condition | None = None) -> Counts:
        return counting.inkb(gold, Document(TEXT, links=links), Rules(condition=condition))

    assert counts(kent) == Counts(1, 0, 0)
    assert counts(kent, kent) == Counts(1, 1, 0)  # a duplicate is a false positive
    assert counts(kent, Link(SPANS[2], "Leicester")) == Counts(1, 1, 0)  # so is a link on a gold NIL
    assert counts(kent, nil) == Counts(1, 0, 0)
    assert counts(Link(SPANS[1], kent.title)) == Counts(0, 1, 1)
    lost = Link(SPANS[5], None, reason=NO_CANDIDATE)
    assert counts(kent, lost) == Counts(1, 0, 0)
    assert counts(kent, lost, condition=Condition.GIVEN_STRICT) == Counts(1, 1, 0)
    assert counts(kent, lost, condition=Condition.GIVEN_SURFACE) == Counts(1, 0, 0)
    surface = Rules(condition=Condition.GIVEN_SURFACE)
    assert counting.with_nil(gold, Document(TEXT, links=(kent, nil, lost)), surface) == Counts(2, 0, 0)


def test_gold_with_an_identifier_only_counts_and_is_a_miss() -> None:
    gold = Document(TEXT, links=(Link(SPANS[0], None, id="Q1"),))
    assert counting.inkb(gold, Document(TEXT), Rules()) == Counts(0, 0, 1)


def test_choice_is_accuracy_and_no_answer_is_wrong() -> None:
    gold = Document(TEXT, links=(Link(SPANS[0], "A"), Link(SPANS[2], "B"), Link(SPANS[4], None)))
    answers = Document(TEXT, links=(Link(SPANS[0], "A"), Link(SPANS[2], None)))
    assert counting.choice(gold, answers) == Counts(1, 1, 1)
    assert counting.choice(gold, Document(TEXT)) == Counts(0, 2, 2)


def candidates(**priors: float) -> tuple[Candidate, ...]:
    return tuple(Candidate(title.replace("_", " "), prior=prior) for title, prior in priors.items())


@pytest.mark.parametrize(
    ("gold", "predicted", "kind"),
    [
        (Link(Span(26, 30), "Kent"), None, "missed: lower case"),
        (Link(Span(0, 4), "Kent"), Link(Span(0, 9), "Kent"), "missed: partial overlap"),
        (Link(Span(0, 4), "Kent"), None, "missed: other"),
        (Link(Span(0, 4), None), Link(Span(0, 4), "Kent"), "false detection: on gold NIL"),
        (Link(Span(0, 4), None), Link(Span(0, 9), "Kent"), "false detection: wrong span"),
        (None, Link(Span(0, 9), "Kent"), "false detection: other"),
        (
            Link(Span(0, 4), "Kent Brockman"),
            Link(Span(0, 4), "Kent", candidates=candidates(Kent=1)),
            "wrong entity: gold not among the candidates",
        ),
        (
            Link(Span(0, 4), "Kent Brockman"),
            Link(Span(0, 4), "Kent", candidates=candidates(Kent=0.9, Kent_Brockman=0.1)),
            "wrong entity: partial name",
        ),
        (Link(Span(0, 4), "Kent Brockman"), Link(Span(0, 4), "Kent"), "wrong entity: partial name"),
        (
            Link(Span(0, 4), "Cantium"),
            Link(Span(0, 4), "Kent", candidates=candidates(Kent=0.9, Cantium=0.1)),
            "wrong entity: rare, gold is not the top prior",
        ),
        (
            Link(Span(0, 4), "Cantium"),
            Link(Span(0, 4), "Kent", candidates=candidates(Kent=0.1, Cantium=0.9)),
            "wrong entity: prior right but model wrong",
        ),
        (Link(Span(0, 4), "Kent (Ohio)"), Link(Span(0, 4), "Kent"), "wrong entity: other"),
    ],
)
def test_kinds(gold: Link | None, predicted: Link | None, kind: str) -> None:
    errors = link_errors(
        Document(TEXT, links=() if gold is None else (gold,)),
        Document(TEXT, links=() if predicted is None else (predicted,)),
        Rules(),
        index=3,
    )
    first = errors[0]
    assert first.kind == kind and first.document == 3
    assert isinstance(first, LinkError) and TEXT[first.span.start : first.span.end]


def test_strict_detection_without_candidates_on_a_gold_span_is_a_wrong_entity() -> None:
    gold = Document(TEXT, links=(Link(Span(0, 4), "Kent"),))
    found = Document(TEXT, links=(Link(Span(0, 4), None, reason=NO_CANDIDATE),))
    errors = link_errors(gold, found, Rules(condition=Condition.GIVEN_STRICT))
    assert [error.kind for error in errors] == ["wrong entity: gold not among the candidates"]
