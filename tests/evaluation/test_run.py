from __future__ import annotations

import pytest

from dictionary_linker import DictionaryLinker
from parlink.config import LinkOptions
from parlink.errors import ParlinkError
from parlink.evaluation.conditions import Condition
from parlink.evaluation.metrics import Counts
from parlink.evaluation.run import Evaluator, evaluate
from parlink.evaluation.scoring import Share
from parlink.kb.surface_table import SurfaceTable
from parlink.linking.linker import Linker
from parlink.types import Candidate, Document, Link, Span


def typed(linker: Linker) -> Evaluator:
    """The real linker is one that can be scored; mypy checks it here."""
    return Evaluator.about([], linker=linker, condition=Condition.KB)


def mention(text: str, surface: str, title: str | None, **priors: float) -> Link:
    start = text.index(surface)
    candidates = tuple(Candidate(name, prior=prior) for name, prior in priors.items())
    return Link(Span(start, start + len(surface)), title, candidates=candidates)


FIRST = "Leicester play Dresden on Saturday"
SECOND = "Yesterday saw Leicester win"
GOLD = [
    Document(
        FIRST,
        id="1",
        links=(
            mention(FIRST, "Leicester", "Club", City=0.6, Club=0.4),
            mention(FIRST, "Dresden", None, Dresden=1.0),
        ),
    ),
    Document(SECOND, id="2", links=(mention(SECOND, "Leicester", "City", City=0.9, Club=0.1),)),
]


def test_strict_takes_candidates_by_span_and_counts_every_other_detection_as_wrong() -> None:
    result = evaluate(DictionaryLinker(), GOLD, condition=Condition.GIVEN_STRICT)
    # right: City in 2; wrong: City in 1, Dresden (gold NIL), Saturday and Yesterday (no candidates)
    assert result.report.linking.counts == Counts(1, 4, 1)
    assert result.report.without_candidates == 2
    assert result.report.detection.counts == Counts(2, 3, 0)
    assert result.report.disambiguation.inkb.micro.f1 == 0.5
    assert result.report.candidate_recall == Share(2, 2)
    assert [len(doc.links) for doc in result.predicted] == [3, 2]


def test_surface_does_not_predict_what_is_not_in_the_table() -> None:
    result = evaluate(DictionaryLinker(), GOLD, condition=Condition.GIVEN_SURFACE).report
    assert result.linking.counts == Counts(1, 2, 1) and result.without_candidates == 0
    table = SurfaceTable.from_documents(GOLD[:1])
    assert [c.title for c in table.candidates("Leicester", limit=1)] == ["City"]
    other = SurfaceTable({"Leicester": (Candidate("Club", prior=1.0),), "Saturday": (Candidate("Day", prior=1.0),)})
    result = evaluate(DictionaryLinker(), GOLD, condition=Condition.GIVEN_SURFACE, surfaces=other).report
    assert result.linking.counts == Counts(1, 2, 1)
    assert result.candidate_recall == Share(1, 2)


def test_what_a_beam_pruned_does_not_count_as_never_offered() -> None:
    beam = LinkOptions(search="beam")
    result = evaluate(DictionaryLinker(), GOLD, condition=Condition.GIVEN_STRICT, options=beam).report
    assert result.candidate_recall is None


def test_kb_uses_the_linkers_own_source_only() -> None:
    kb = SurfaceTable({"Saturday": (Candidate("Day", prior=1.0),)})
    result = evaluate(DictionaryLinker(kb, kb), GOLD, condition=Condition.KB).report
    assert result.linking.counts == Counts(0, 1, 2) and result.candidate_recall == Share(0, 2)


def test_none_asks_for_a_beam_search_over_the_whole_kb() -> None:
    empty = SurfaceTable({})
    asked = Evaluator.about(GOLD, linker=DictionaryLinker(empty, empty), condition=Condition.NONE)
    assert asked.options.search == "beam" and asked.options.fallback
    assert asked.linker == DictionaryLinker(None, empty)
    assert evaluate(DictionaryLinker(kb=empty), GOLD, condition=Condition.NONE).report.candidate_recall is None


@pytest.mark.parametrize("condition", [Condition.GIVEN_STRICT, Condition.GIVEN_SURFACE])
def test_where_candidates_are_given_the_whole_kb_is_never_searched(condition: Condition) -> None:
    asked = Evaluator.about(GOLD, linker=DictionaryLinker(), condition=condition, options=LinkOptions(fallback=True))
    assert asked.options.fallback is False


@pytest.mark.parametrize("condition", [Condition.KB, Condition.NONE])
def test_no_knowledge_base_is_an_error_and_no_score_of_0(condition: Condition) -> None:
    with pytest.raises(ParlinkError, match="needs a knowledge base"):
        evaluate(DictionaryLinker(), GOLD, condition=condition)


@pytest.mark.parametrize("condition", [Condition.GIVEN_STRICT, Condition.GIVEN_SURFACE])
def test_data_without_candidates_is_an_error(condition: Condition) -> None:
    with pytest.raises(ParlinkError, match="the data gives no candidates"):
        evaluate(DictionaryLinker(), [Document("Kent won")], condition=condition)


def test_the_same_document_twice_is_an_error() -> None:
    with pytest.raises(ParlinkError, match="gold document 3: document '1' was already"):
        evaluate(DictionaryLinker(), [*GOLD, GOLD[0]], condition=Condition.GIVEN_STRICT)


def test_a_document_that_fails_is_counted_and_stays_a_miss() -> None:
    broken = Document("Kent\0", id="3", links=(Link(Span(0, 4), "Kent"),))
    result = evaluate(DictionaryLinker(), [*GOLD, broken], condition=Condition.GIVEN_STRICT).report
    assert result.linking.counts == Counts(1, 4, 2)
    assert [(w.count, w.first) for w in result.warnings] == [(1, "gold document 3: NUL in the text")]


def test_score_thresholds_matter_for_linking_but_not_for_the_choice_on_gold_spans() -> None:
    options = LinkOptions(score_threshold=-0.2)
    result = evaluate(DictionaryLinker(), GOLD, condition=Condition.GIVEN_SURFACE, options=options).report
    assert result.linking.counts == Counts(0, 1, 2)
    assert result.disambiguation.inkb.micro.f1 == 0.5


def test_progress_counts_documents_of_both_passes() -> None:
    done: list[int] = []
    evaluate(DictionaryLinker(), GOLD, condition=Condition.GIVEN_STRICT, progress=done.append)
    assert sum(done) == 2 * len(GOLD)


def test_proposals_reach_down_to_the_lowest_threshold_and_keep_overlaps() -> None:
    asked = Evaluator.about(GOLD, linker=DictionaryLinker(), condition=Condition.GIVEN_STRICT)
    spans = [link.span for doc in asked.proposals() for link in doc.links]
    assert len(spans) == 5
    text = "The Leicester Tigers"
    one = Document(text, links=(mention(text, "Leicester", "Club", Club=1.0),))
    asked = Evaluator.about([one], linker=DictionaryLinker(), condition=Condition.GIVEN_STRICT)
    assert [text[link.span.start : link.span.end] for link in next(asked.proposals()).links] == [
        "The Leicester",
        "The",
        "Tigers",
    ]
