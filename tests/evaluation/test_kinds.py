"""Names apart from common nouns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from parlink.evaluation.counting import DEFAULT_RULES, inkb
from parlink.evaluation.kinds import split_kinds
from parlink.evaluation.metrics import Counts, total
from parlink.evaluation.report.json import to_json
from parlink.evaluation.scoring import score
from parlink.types import Document, Link, Span

TEXT = "Kent has a coast, Essex a port"
KENT, COAST, ESSEX, PORT = (Span(TEXT.index(w), TEXT.index(w) + len(w)) for w in ("Kent", "coast", "Essex", "port"))
GOLD = Document(
    TEXT, links=(Link(KENT, "Kent", extra={"what": "name"}), Link(COAST, "Coast", extra={"what": "noun"}), Link(ESSEX))
)
LINKS = st.builds(Link, st.sampled_from([KENT, COAST, ESSEX, PORT]), st.sampled_from(["Kent", "Coast", None]))


def test_names_and_nouns_are_counted_apart_on_both_sides() -> None:
    said = Document(TEXT, links=(Link(KENT, "Kent"), Link(COAST, "Shore"), Link(ESSEX, "Essex"), Link(PORT, "Port")))
    report = score([GOLD], [said])
    assert report.kinds is not None
    assert report.kinds.name_counts == Counts(1, 1, 0) and report.kinds.other_counts == Counts(0, 2, 1)
    assert to_json(report)["kinds"]["names"]["counts"] == {"tp": 1, "fp": 1, "fn": 0}


def test_what_gold_says_goes_before_the_spelling() -> None:
    gold = Document(TEXT, links=(Link(KENT, "Kent", extra={"what": "noun"}),))
    split = split_kinds([(gold, Document(TEXT, links=(Link(KENT, "Kent"),)))], DEFAULT_RULES)
    assert split is not None and split.other_counts == Counts(1, 0, 0)


def test_gold_that_tells_nothing_has_no_split() -> None:
    gold = Document(TEXT, links=(Link(KENT, "Kent"),))
    assert score([gold], [gold]).kinds is None and to_json(score([gold], [gold]))["kinds"] is None


@given(st.lists(LINKS, unique_by=lambda link: link.span))
def test_the_counts_of_both_add_up_to_the_whole(links: list[Link]) -> None:
    said = Document(TEXT, links=tuple(links))
    split = split_kinds([(GOLD, said)], DEFAULT_RULES)
    assert split is not None
    assert total([split.name_counts, split.other_counts]) == inkb(GOLD, said, DEFAULT_RULES)
