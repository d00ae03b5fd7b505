"""What may be asked of a linker, and what it says to anything else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from parlink.config import LinkOptions, ScoreWeights
from parlink.errors import ConfigError, ParlinkError, TextError
from parlink.linking.linker import Linker
from parlink.types import Candidate, Document, Link, Span
from tiny_kb import tiny_kb
from tiny_model import tiny_checkpoint


class OneTitle:
    def candidates(self, surface: str, *, limit: int) -> Sequence[Candidate]:
        return [Candidate("Paris")]


LINKER = Linker(tiny_checkpoint(seed=3, spread=2.0), source=OneTitle())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"search": "baem"}, "search must be 'rank' or 'beam', got 'baem'"),
        ({"overlaps": "drop"}, "overlaps must be 'resolve' or 'keep', got 'drop'"),
        ({"max_candidates": -1}, "max_candidates must be a whole number of at least 1, got -1"),
        ({"max_candidates": 0}, "max_candidates must be"),
        ({"beams": 0}, "beams must be a whole number of at least 1, got 0"),
        ({"beams": 2.5}, "beams must be"),
        ({"beams": True}, "beams must be"),
        ({"min_confidence": 1.5}, "min_confidence must be a number from 0 to 1 or None, got 1.5"),
        ({"min_confidence": -0.1}, "min_confidence must be"),
        ({"min_confidence": float("nan")}, "min_confidence must be"),
        ({"mention_threshold": float("nan")}, "mention_threshold must be a number"),
        ({"score_threshold": "high"}, "score_threshold must be a number"),
        ({"fallback": "no"}, "fallback must be True, False or None, got 'no'"),
        ({"fallback": 1}, "fallback must be True, False or None, got 1"),
        ({"any_case": None}, "any_case must be True or False, got None"),
        ({"dictionary": "yes"}, "dictionary must be True, False or None"),
        ({"least_linked": 2}, "least_linked must be a number from 0 to 1 or None, got 2"),
        ({"least_linked": float("nan")}, "least_linked must be"),
        ({"names": True}, "names must be a whole number of at least 0 or None, got True"),
        ({"weights": {"lm": 1.0}}, "weights must be a ScoreWeights or None"),
        ({"titles": "Paris"}, "titles must be a tuple of strings"),
        ({"titles": ("Paris", 5)}, "titles must be a tuple of strings"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        LinkOptions(**options)


@pytest.mark.parametrize("value", ["x", True, None, float("nan"), float("inf")])
def test_weights_are_finite_numbers(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"prior must be a (finite )?number, got"):
        ScoreWeights(prior=value)


def test_options_may_be_given_by_name() -> None:
    wanted = LINKER.link("Paris met Kent.", options=LinkOptions(mention_threshold=-100.0, titles=("Paris",)))
    assert wanted.links
    assert LINKER.link("Paris met Kent.", mention_threshold=-100.0, titles=["Paris"]) == wanted
    (streamed,) = LINKER.stream(["Paris met Kent."], mention_threshold=-100.0, titles=("Paris",))
    assert streamed == wanted
    some = LinkOptions(mention_threshold=100.0, titles=("Paris",))
    assert LINKER.link("Paris met Kent.", options=some, mention_threshold=-100.0) == wanted


def test_every_option_may_be_given_by_name() -> None:
    plain = LinkOptions()
    fields = {name: getattr(plain, name) for name in plain.__struct_fields__}
    assert plain.replace(fields) == plain and LINKER.link("Paris", **fields) == LINKER.link("Paris")


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ({"min_confidance": 0.5}, "unknown option 'min_confidance'; did you mean 'min_confidence'?"),
        ({"optoins": LinkOptions()}, "unknown option 'optoins'; did you mean 'options'?"),
        ({"qqq": 1}, "unknown option 'qqq'; known are mention_threshold, .*titles, overlaps"),
        ({"beams": 0}, "beams must be a whole number of at least 1, got 0"),
    ],
)
def test_a_name_that_is_no_option_is_refused_with_the_nearest(field: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        LINKER.link("Paris", **field)
    with pytest.raises(ConfigError, match=says):
        LINKER.stream(["Paris"], **field)


@pytest.mark.parametrize("value", [0, -1, True, 2.5, "3", float("nan")])
def test_a_batch_has_a_whole_number_of_tokens(value: Any) -> None:
    with pytest.raises(ConfigError, match="batch_tokens must be a whole number of at least 1, got"):
        LINKER.stream(["Paris"], batch_tokens=value)


@pytest.mark.parametrize("value", [None, "model", Path("model")])
def test_a_linker_of_a_folder_says_how_it_is_opened(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"a model is opened by Linker\.load\(folder\), not by Linker\("):
        Linker(value)


def test_what_cannot_be_called_or_asked_is_refused() -> None:
    with pytest.raises(ConfigError, match="progress must be a function of a number from 0 to 1, or None, got 3"):
        LINKER.link("Paris", progress=3)  # type: ignore[call-overload]
    for make in (LINKER.with_candidates, lambda source: Linker.load(source=source)):
        with pytest.raises(ConfigError, match="source must have a method candidates, as a KnowledgeBase has, got 3"):
            make(3)


@pytest.mark.parametrize("field", ["path", "kb"])
@pytest.mark.parametrize("value", ["", 3, b"model"])
def test_a_folder_is_a_string_or_a_path(field: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"{field} must be a folder, as a string or a Path, got {value!r}"):
        Linker.load(**{field: value})


@pytest.mark.parametrize("value", [None, 5, b"Paris", {"txt": "Paris"}])
def test_what_is_no_document_is_refused_in_a_sentence(value: Any) -> None:
    with pytest.raises(ParlinkError, match="string"):
        LINKER.link(value)
    with pytest.raises(TextError, match=r"document 1 of the list: .*string"):
        LINKER.link(["Paris", value])
    first, failed, last = LINKER.stream(["Paris", value, "Paris"])
    assert first.error is None and failed.error is not None and last == first


@pytest.mark.parametrize("value", ["Paris", Document("Paris"), {"text": "Paris"}, b"Paris", None, 3])
def test_a_stream_wants_many(value: Any) -> None:
    with pytest.raises(TextError, match="link takes one"):
        LINKER.stream(value)


def test_what_can_be_read_once_is_for_a_stream() -> None:
    with pytest.raises(TextError, match="stream takes any iterable"):
        LINKER.link(iter(["Paris"]))  # type: ignore[call-overload]


def test_options_that_are_plain_data_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"options must be a LinkOptions.*got \{'beams': 3\}"):
        LINKER.link("Paris", options={"beams": 3})  # type: ignore[call-overload]


def test_a_linker_at_a_prompt_says_what_it_links_to(tmp_path: Path) -> None:
    kb = tiny_kb(tmp_path)
    assert repr(Linker(tiny_checkpoint(), kb=kb)) == f"Linker(kb={kb!r}, device='cpu')"
    assert repr(kb) == f"KnowledgeBase({str(kb.folder)!r}, 12 entities)"


@pytest.mark.parametrize(
    ("spans", "says"),
    [((Span(3, 99),), r"the span \[3, 99\) of a text of 5 characters"), (((0, 5),), r"must be Span\(start, end\)")],
)
def test_a_span_outside_the_text_is_refused(spans: Any, says: str) -> None:
    doc = Document("Paris", id="7", spans=spans)
    with pytest.raises(TextError, match=says):
        LINKER.link(doc)
    first, second = LINKER.stream([doc, Document("Paris", spans=(Span(0, 5),))])
    assert (first.id, first.links) == ("7", ()) and first.error is not None
    assert second.links[0].title == "Paris"


def test_a_list_gives_a_list_and_every_shape_the_same_links() -> None:
    doc = Document("Paris won.", spans=(Span(0, 5),))
    plain = {"text": "Paris won.", "spans": [[0, 5]]}
    told: list[float] = []
    documents: list[Any] = [doc, plain, "Paris won.", ""]
    linked = LINKER.link(documents, progress=told.append)
    assert [each.text for each in linked] == [doc.text, doc.text, doc.text, ""]
    alone = LINKER.link(doc)
    for each in linked[:2]:
        assert [(link.span, link.title) for link in each.links] == [(link.span, link.title) for link in alone.links]
    assert told == sorted(told) and told[-1] == 1.0
    assert LINKER.link([]) == []
    assert LINKER.link(tuple(documents)) == linked  # type: ignore[call-overload]
    assert list(LINKER.stream(documents)) == linked


def test_a_broken_dict_of_a_stream_keeps_its_text() -> None:
    (failed,) = LINKER.stream([{"text": "Paris", "links": 5}])
    assert (failed.text, failed.links) == ("Paris", ()) and "links must be a list" in (failed.error or "")


EVERYTHING = LinkOptions(mention_threshold=-100.0, overlaps="keep")


@pytest.mark.parametrize("text", [" ", "\r\n", "\x00", "a \x00 b", "\u200b", "a\u2028\t\x07 b", "\ufeffKent"])
def test_a_mention_is_never_only_white_space_or_control_characters(text: str) -> None:
    for link in LINKER.link(text, options=EVERYTHING).links:
        surface = text[link.span.start : link.span.end]
        assert any(character.isalnum() for character in surface), repr(surface)


@pytest.mark.parametrize("text", ["Jose\u0301 Kent", "e\u0301\u0302 a", "ｶﾞ x", "❤\ufe0f", "\u0301\u0302x", "कि है"])
def test_a_mention_never_ends_before_a_combining_mark(text: str) -> None:
    marks = "\u0301\u0302ﾞ\ufe0f\u093f\u0948"
    links = LINKER.link(text, options=EVERYTHING).links
    assert links
    assert not [link for link in links if text[link.span.end : link.span.end + 1] in tuple(marks)]


def test_candidates_given_outside_the_text_do_no_harm() -> None:
    stray = Link(Span(3, 99), candidates=(Candidate("Kent"),))
    assert LINKER.link(Document("Paris", links=(stray,), spans=(Span(0, 5),))).links[0].title == "Paris"
