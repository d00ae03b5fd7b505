"""Hostile wikitext costs no more than its length: steps are counted, not seconds."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counted_regex import CountedPattern, Counter
from parlink.data.wikipedia import mediawiki, regions, wikitext

STEPS_A_CHARACTER = 150  # of all passes together; the worst text takes some 60
AROUND = 2000


def read_page(text: str) -> None:
    page = mediawiki.parse(f"<page>{text}<revision><text>{text}</text></revision>".encode())
    mediawiki.skip_reason(page.title, page.text)
    list(wikitext.links(page.text))
    wikitext.clean(page.text)


def count_steps(function: Callable[[str], None], text: str) -> int:
    """Return the lines of our code that a call runs, and the steps of its patterns."""
    counter = Counter()

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(tuple(m.__file__ for m in (mediawiki, regions, wikitext))):
            return None
        counter.steps += 1
        return trace

    with pytest.MonkeyPatch.context() as patch:
        for module in (mediawiki, regions, wikitext):
            for name, value in vars(module).items():
                if isinstance(value, re.Pattern):
                    patch.setattr(module, name, CountedPattern(value, counter))
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            function(text)
        finally:
            sys.settrace(before)
    return counter.steps


KNOWN = [
    "{{" + 400 * " ",
    "<ref>",
    "[//",
    "#redirect" + 400 * " ",
    "<title>",
    "<nowiki>",
    "{{lang|" + 400 * " ",
    " " * 400,
]
PIECES = [*"[]{}|<>'=*#:;&,.()_-\n\t ", "[[", "]]", "{{", "}}", "{|", "\n|}", "<ref", "</ref>", "<!--", "-->", "/>"]
PIECES += [
    "<nowiki>",
    "</pre>",
    "[[File:",
    "[http://",
    "[mailto:",
    "lang|",
    "{{disambig",
    "disambiguation",
    "&#",
    "__A",
]
PIECES += ["<table", "</table ", "== ", "a", "Elbe", "9", "(", " (,", "\n=", "\n* ", "[[a|", "{{convert|", "#REDIRECT "]


@pytest.mark.parametrize("piece", KNOWN, ids=lambda piece: piece[:12].strip() or "spaces")
def test_texts_that_took_quadratic_time(piece: str) -> None:
    text = piece * (1200 // len(piece))
    assert count_steps(read_page, text) < STEPS_A_CHARACTER * len(text) + AROUND


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4), st.lists(st.sampled_from(PIECES), max_size=3))
def test_repeated_marks_cost_no_more_than_their_length(repeated: list[str], last: list[str]) -> None:
    unit = "".join(repeated)
    text = unit * (800 // len(unit)) + "".join(last)
    assert count_steps(read_page, text) < STEPS_A_CHARACTER * len(text) + AROUND


def test_the_count_tells_quadratic_from_linear() -> None:
    counter = Counter()
    CountedPattern(re.compile(r" +(?=,)"), counter).search(" " * 1000)
    assert counter.steps > 500_000
    linear = Counter()
    CountedPattern(re.compile(r"(?<! ) ++(?=,)"), linear).search(" " * 1000)
    assert linear.steps < 10_000


def test_a_number_that_is_no_character_s_is_no_error() -> None:
    assert wikitext.clean(f"a &#{'9' * 5000}; b")[0] == "a \ufffd b"
