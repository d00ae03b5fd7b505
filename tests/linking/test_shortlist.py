"""Which names are read, and that without a shortlist, or with one that is long enough, nothing changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlink.config import LinkOptions, ScoreWeights, Shortlist, Tuned
from parlink.evaluation.weighting import rescore, take_weights
from parlink.kb.tables import Linked
from parlink.linking.linker import Linker
from parlink.linking.shortlist import choose_names
from parlink.types import Document, Span
from tiny_kb import tiny_kb
from tiny_model import tiny_checkpoint

TEXT = "Kent met HSV in Hamburg."
SPANS = tuple(Span(TEXT.index(name), TEXT.index(name) + len(name)) for name in ("Kent", "HSV", "Hamburg"))
DOC = Document(TEXT, spans=SPANS)
LINKED = Linked(0.5, is_guess=False)
WEIGHTS = ScoreWeights(lm=0.1, classifier=0.1, prior=1.0)


def linker(folder: Path, shortlist: Shortlist | None = None) -> Linker:
    checkpoint = replace(tiny_checkpoint(seed=3), tuned=Tuned(weights=WEIGHTS, shortlist=shortlist))
    kb = tiny_kb(folder)
    return Linker(checkpoint, kb=kb, source=kb)


@given(
    st.lists(st.lists(st.floats(-5, 5, width=32), min_size=1, max_size=6), max_size=6),
    st.integers(1, 4),
    st.floats(0, 3),
)
def test_the_best_that_are_near_the_best_are_read(scores: list[list[float]], names: int, margin: float) -> None:
    known = np.array([score for choice in scores for score in choice], np.float32)
    mention = np.repeat(np.arange(len(scores)), [len(choice) for choice in scores])
    chosen = iter(choose_names(known, mention, Shortlist(names=names, margin=margin)).tolist())
    for choice in scores:
        read = [np.float32(score) for score in choice if next(chosen)]
        near = [score for score in sorted(map(np.float32, choice), reverse=True) if max(choice) - score <= margin]
        assert sorted(read, reverse=True) == (near[:names] if len(choice) > 1 else [])


def test_without_a_shortlist_all_are_read() -> None:
    assert choose_names(np.zeros(3, np.float32), np.array([0, 0, 1]), None).all()


def test_a_name_that_is_not_read_has_the_usual_parts_and_keeps_its_prior(tmp_path: Path) -> None:
    usual = Shortlist(names=1, margin=0.0, lm=-7.0, classifier=-3.0)
    links = linker(tmp_path, usual).link(DOC).links
    several = [link for link in links if len(link.candidates) > 1]
    assert several
    for link in several:
        unread = [(c.lm, c.classifier) == (-7.0, -3.0) for c in link.candidates]
        assert unread.count(False) == 1
        assert all(c.prior and c.score is not None for c in link.candidates)


def test_names_read_are_scored_as_if_all_were(tmp_path: Path) -> None:
    exact = linker(tmp_path / "exact").link(DOC)
    some = linker(tmp_path / "some", Shortlist(names=1, margin=0.0, lm=-7.0, classifier=-3.0)).link(DOC)
    wanted = {(link.span, c.title): c.lm or 0.0 for link in exact for c in link.candidates}
    for link in some:
        for c in link.candidates:
            assert c.lm == -7.0 or abs((c.lm or 0.0) - wanted[link.span, c.title]) < 1e-5


def test_links_whose_names_were_all_read_tell_what_a_shortlist_would_have_given(tmp_path: Path) -> None:
    usual = Shortlist(names=1, margin=9.0, lm=-7.0, classifier=-3.0)
    exact = linker(tmp_path / "exact").link(DOC)
    told = rescore(exact, Tuned(weights=WEIGHTS, shortlist=usual))
    for link, wanted in zip(told, linker(tmp_path / "some", usual).link(DOC), strict=True):
        assert link.title == wanted.title and [c.title for c in link.candidates] == [c.title for c in wanted.candidates]
        for c, other in zip(link.candidates, wanted.candidates, strict=True):
            assert (c.lm, c.score) == (pytest.approx(other.lm, abs=1e-5), pytest.approx(other.score, abs=1e-5))
    taken = take_weights(Tuned(shortlist=usual), WEIGHTS, [exact]).shortlist
    unread = [
        (c.lm or 0.0)
        for a, b in zip(exact, told, strict=True)
        for c in a.candidates
        for d in b.candidates
        if c.title == d.title and d.lm == -7.0
    ]
    assert taken is not None and taken.lm == pytest.approx(sum(unread) / len(unread)) and taken.names == 1


def test_no_names_asked_for_and_other_weights_mean_that_all_are_read(tmp_path: Path) -> None:
    usual = Shortlist(names=1, margin=0.0, lm=-77.0)
    short = linker(tmp_path, usual)
    for options in (LinkOptions(names=0), LinkOptions(weights=ScoreWeights())):
        assert all(c.lm != -77.0 for link in short.link(DOC, options=options) for c in link.candidates)
