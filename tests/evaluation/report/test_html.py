from __future__ import annotations

import re
from html.parser import HTMLParser

import msgspec

from parlink.evaluation.conditions import Condition, condition_of, state_condition, strip_gold
from parlink.evaluation.counting import Rules
from parlink.evaluation.report.html import to_html
from parlink.evaluation.report.json import to_json
from parlink.evaluation.scoring import Report, score
from parlink.types import Candidate, Document, Link, Span

TEXT = 'Kent & <b>Leicester</b> met "Dresden" in <script>alert(1)</script> ' + "and then some more words " * 20
EVIL = "<img src=x onerror=alert(1)>"


def example() -> Report:
    gold = Document(
        TEXT, id=f"1{EVIL}", links=(Link(Span(0, 4), EVIL), Link(Span(10, 19), "Leicester"), Link(Span(29, 36), None))
    )
    candidates = (Candidate("Kent'\"", score=1.5, lm=-0.5, classifier=2.0, prior=0.9), Candidate(EVIL, prior=0.1))
    links = (
        Link(Span(0, 4), "Kent'\"", confidence=0.75, candidates=candidates),
        Link(Span(7, 19), "Leicester", confidence=0.5, reason=EVIL),
        Link(Span(29, 36), "Dresden", confidence=0.25),
    )
    return score([gold], [Document(TEXT, id=gold.id, links=links)], other=[Document(TEXT, id=gold.id)])


class Checker(HTMLParser):
    """Counts elements, and sees that each is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_self_contained_and_escapes_everything() -> None:
    page = to_html([example()], title=f"scores {EVIL}")
    checker = Checker()
    checker.feed(page)
    tags = [tag for tag, _ in checker.seen]
    assert not checker.open and tags.count("script") == 1 and "img" not in tags and "link" not in tags
    assert not re.findall(r'(?:src|href)\s*=\s*["\']?http', page) and "@import" not in page
    assert tags.count("article") == 4 == len(example().errors)
    assert [attributes["data-kind"] for tag, attributes in checker.seen if tag == "article"] == [
        "ENTITY_RARE",
        "FALSE_WRONG_SPAN",
        "MISSED_PARTIAL_OVERLAP",
        "FALSE_ON_GOLD_NIL",
    ]
    assert tags.count("svg") == 2  # the curve and the reliability of the scores
    assert "<mark>Kent</mark>" in page and "beside it" in page and "paired over documents" in page
    assert "1 candidates" not in page


def test_long_texts_are_cut_around_the_error() -> None:
    page = to_html([example()], title="t")
    assert " …</p>" in page and page.count("and then some more words " * 10) == 0


def test_several_conditions_are_sections() -> None:
    gold = Document("Kent won", links=(Link(Span(0, 4), "Kent"),))
    reports = [score([gold], [Document("Kent won")], rules=Rules(condition=condition)) for condition in Condition]
    page = to_html(reports, title="t")
    assert all(f"Candidates: {condition}" in page for condition in Condition)
    assert "gold surfaces" in page


def test_json_has_the_promised_keys() -> None:
    value = msgspec.json.decode(msgspec.json.encode(to_json(example())))
    for task in ("linking", "detection", "disambiguation"):
        for average in ("micro", "macro"):
            assert value[task]["inkb"][average].keys() == {"precision", "recall", "f1"}
        assert value[task]["intervals"]["f1"].keys() == {"low", "high"}
    assert value["linking"]["with_nil"]["micro"]["f1"] == 0.0
    assert value["errors"]["missed"] == {"lower case": 0, "partial overlap": 1, "other": 0}
    assert value["condition"] is None and value["documents"] == 1 and value["gold"] == {"linked": 2, "nil": 1}
    assert value["comparison"]["other_f1"] == 0.0 and value["redirects"] is None


def test_predictions_say_their_condition() -> None:
    doc = Document("Kent", extra={"a": 1})
    stated = state_condition(doc, Condition.GIVEN_STRICT)
    assert stated.extra == {"a": 1, "condition": "given-strict"}
    assert condition_of([stated, stated]) is Condition.GIVEN_STRICT
    assert condition_of([stated, doc]) is condition_of([doc]) is condition_of([]) is None
    assert condition_of([Document("x", extra={"condition": "strange"})]) is None
    assert strip_gold(stated, Condition.KB).extra == {}
