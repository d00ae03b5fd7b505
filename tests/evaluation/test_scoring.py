from __future__ import annotations

import io

import pytest
from rich.console import Console

from parlink.cli.score_table import show_report
from parlink.evaluation.conditions import Condition, state_condition, strip_gold
from parlink.evaluation.context import EvalContext, Redirects
from parlink.evaluation.counting import NO_CANDIDATE, Rules
from parlink.evaluation.matching import Match
from parlink.evaluation.metrics import Counts
from parlink.evaluation.pairing import PairedDocuments
from parlink.evaluation.report.json import to_json
from parlink.evaluation.scoring import Share, report, score
from parlink.types import Candidate, Document, Link, Span

TEXT = "Kent met Leicester and Dresden"
KENT, LEICESTER, DRESDEN = Span(0, 4), Span(9, 18), Span(23, 30)
GOLD = Document(TEXT, id="1", links=(Link(KENT, "Kent"), Link(LEICESTER, "Leicester"), Link(DRESDEN, None)))


def predicted(*links: Link) -> list[Document]:
    return [Document(TEXT, id="1", links=links)]


def test_predictions_alone() -> None:
    result = score([GOLD], predicted(Link(KENT, "Kent"), Link(LEICESTER, "City"), Link(DRESDEN, None)))
    assert result.linking.counts == Counts(1, 1, 1)
    assert result.detection.counts == Counts(2, 0, 0)
    assert result.linking.with_nil is not None
    assert result.linking.with_nil.micro.f1 == pytest.approx(2 / 3)
    assert result.disambiguation.inkb.micro.f1 == 0.5
    assert result.disambiguation_spans == "gold spans that were predicted"
    assert (result.linked, result.nil, result.predicted) == (2, 1, 2)
    assert result.condition is None and result.redirects is None and result.candidate_recall is None
    assert [error.kind.group for error in result.errors] == ["wrong entity"]


def test_disambiguation_is_accuracy_given_gold_spans() -> None:
    chosen = predicted(
        Link(KENT, "Kent", candidates=(Candidate("Kent"),)), Link(LEICESTER, "X", candidates=(Candidate("X"),))
    )
    result = report(PairedDocuments((GOLD,), tuple(predicted())), chosen=chosen)
    micro = result.disambiguation.inkb.micro
    assert (micro.precision, micro.recall, micro.f1) == (0.5, 0.5, 0.5)
    assert result.disambiguation_spans == "gold spans"
    assert result.candidate_recall == Share(1, 2)


def test_redirects_apply_only_when_given_and_are_named() -> None:
    old = predicted(Link(KENT, "County of Kent", candidates=(Candidate("County of Kent"),)))
    assert score([GOLD], old).linking.counts.tp == 0
    redirects = Redirects("redirects.json", lambda title: {"County of Kent": "Kent"}.get(title, title))
    result = score([GOLD], old, context=EvalContext(redirects=redirects))
    assert result.linking.counts.tp == 1 and result.redirects == "redirects.json"


def test_a_gold_title_missing_from_the_kb_still_counts() -> None:
    context = EvalContext(kb="small", in_kb={"Kent"}.__contains__)
    result = score([GOLD], predicted(), context=context)
    assert result.coverage == Share(1, 2) and result.linking.counts.fn == 2 and result.kb == "small"
    assert str(Share(0, 0)) == "none (0 of 0)" and Share(1, 4).value == 0.25


def test_seen_and_unseen_entities() -> None:
    redirects = Redirects("r", lambda title: {"Cantium": "Kent"}.get(title, title))
    context = EvalContext(seen={"Cantium"}, seen_source="train.jsonl", redirects=redirects)
    seen = score([GOLD], predicted(Link(KENT, "Kent"), Link(DRESDEN, "Dresden")), context=context).seen
    assert seen is not None and seen.source == "train.jsonl"
    assert (seen.seen_counts, seen.unseen_counts) == (Counts(1, 0, 0), Counts(0, 1, 1))
    assert seen.seen.micro.f1 == 1.0 and seen.unseen.micro.f1 == 0.0


def test_strict_counts_detections_without_candidates() -> None:
    lost = Link(Span(5, 8), None, reason=NO_CANDIDATE)
    strict = score([GOLD], predicted(lost), rules=Rules(condition=Condition.GIVEN_STRICT))
    assert strict.without_candidates == 1 and strict.linking.counts == Counts(0, 1, 2)
    assert "counts as a wrong prediction" in strict.explanation
    surface = score([GOLD], predicted(lost), rules=Rules(condition=Condition.GIVEN_SURFACE))
    assert surface.linking.counts == Counts(0, 0, 2)
    assert "gold surfaces" in surface.explanation and "kb condition" in surface.explanation


def test_weak_match() -> None:
    wide = predicted(Link(Span(0, 8), "Kent"))
    assert score([GOLD], wide).linking.counts.tp == 0
    assert score([GOLD], wide, rules=Rules(Match.WEAK)).linking.counts.tp == 1


def test_both_sides_empty_counts_one() -> None:
    empty = Document("nothing here", id="2")
    result = score([GOLD, empty], [*predicted(), empty])
    assert result.linking.inkb.macro.f1 == 0.5 and result.linking.inkb.micro.f1 == 0.0


def test_a_linker_sees_nothing_but_the_text_and_in_strict_the_candidates() -> None:
    given = Link(
        KENT,
        "Kent",
        id="Q1",
        url="u",
        confidence=1.0,
        candidates=(Candidate("Kent", score=9.0), Candidate("A")),
        extra={"k": 1},
    )
    gold = Document(TEXT, id="1", links=(given, Link(LEICESTER, "Leicester")), kb="k", extra={"answer": "Kent"})
    strict = strip_gold(gold, Condition.GIVEN_STRICT)
    assert strict == Document(TEXT, id="1", links=(Link(KENT, candidates=(Candidate("A"), Candidate("Kent"))),))
    for condition in (Condition.GIVEN_SURFACE, Condition.KB, Condition.NONE):
        assert strip_gold(gold, condition) == Document(TEXT, id="1")


def test_an_id_without_a_title_is_resolved_and_counts_either_way() -> None:
    gold = Document(TEXT, id="1", links=(Link(KENT, id="Q1"), Link(LEICESTER, id="Q2")))
    said = [Document(TEXT, id="1", links=(Link(KENT, "Kent"),))]
    assert score([gold], said).linking.counts == Counts(0, 1, 2)
    known = EvalContext(redirects=Redirects("a table", lambda name: {"Q1": "Kent"}.get(name, name)))
    assert score([gold], said, context=known).linking.counts == Counts(1, 0, 1)


def test_another_system_is_scored_under_its_own_condition() -> None:
    lost = Link(Span(5, 8), None, reason=NO_CANDIDATE)
    strict = Rules(condition=Condition.GIVEN_STRICT)
    mine = predicted(Link(KENT, "Kent"), lost)
    for condition, f1 in ((Condition.GIVEN_STRICT, 0.5), (Condition.KB, 2 / 3)):
        other = [state_condition(doc, condition) for doc in mine]
        found = score([GOLD], mine, rules=strict, other=other).comparison
        assert found is not None and found.f1 == 0.5 and found.other_f1 == pytest.approx(f1)


def test_what_a_search_made_up_is_no_candidate_recall() -> None:
    found = Link(KENT, "Kent", candidates=(Candidate("Kent", match_type="search"),))
    paired = PairedDocuments((GOLD,), tuple(predicted(found)))
    assert report(paired, chosen=predicted(found)).candidate_recall == Share(0, 2)


def test_an_evaluation_of_nothing_says_so() -> None:
    nothing = score([Document("Nobody is named here.")], [Document("Nobody is named here.")])
    assert nothing.linking.is_empty and nothing.warnings[0].what.startswith("gold mentions with an entity")
    assert to_json(nothing)["linking"]["inkb"] is None
    stream = io.StringIO()
    show_report(nothing, console=Console(file=stream, width=100))
    assert "nothing to score" in stream.getvalue() and "100.00" not in stream.getvalue()
    wrong = score([Document("A b")], [Document("A b", links=(Link(Span(0, 1), "A"),))])
    assert not wrong.linking.is_empty and to_json(wrong)["linking"]["inkb"]["micro"]["f1"] == 0
