"""What the confidence of a link is computed from."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlink.decision_config import FEATURES, Regression
from parlink.errors import ConfigError
from parlink.kb.tables import Linked
from parlink.linking.features import features_of, link_features
from parlink.linking.surroundings import Surroundings
from parlink.types import Candidate, Entity, Link, Span

KENT = Candidate("Kent", score=2.0, prior=0.6, coherence=0.25)
BAND = Candidate("Kent (band)", score=0.5, prior=0.1)


def by_name(
    surface: str = "Kent", candidates: tuple[Candidate, ...] = (KENT, BAND), **changes: object
) -> dict[str, float]:
    known: dict[str, object] = {"source": "detector", "mention_logit": 1.5, "mention_probability": 0.5, "linked": None}
    values = link_features(surface, candidates, **(known | changes))  # type: ignore[arg-type]
    return dict(zip(FEATURES, values, strict=True))


def test_features_say_how_sure_each_step_was() -> None:
    values = by_name(linked=Linked(0.75, is_guess=True))
    assert values["start"] == 1.5 and values["end"] == pytest.approx(math.log(0.5) + math.log1p(math.exp(-1.5)))
    assert (values["total"], values["margin"], values["coherence"]) == (2.0, 1.5, 0.25)
    assert values["share"] == pytest.approx(1 / (1 + math.exp(-1.5)))
    assert (values["lone"], values["left_out"]) == (0.0, pytest.approx(0.3))
    assert values["linked"] == pytest.approx(math.log(3)) and values["linked_guess"] == 1.0
    assert values["title_is_surface"] == 1.0 and by_name("kent")["title_is_surface"] == 0.0
    assert by_name("kent county")["words"] == pytest.approx(math.log(2)) and by_name("kent")["lower_case"] == 1.0


def test_features_say_what_the_title_shares_with_the_surface_and_what_is_proposed_around() -> None:
    club = (Candidate("Kent County Cricket Club", score=2.0),)
    values = by_name("kent county team", club, around=Surroundings(longer=0.5, shorter=0.25))
    assert values["in_title"] == pytest.approx(2 / 3) and values["beyond"] == 2.0
    assert (values["longer"], values["shorter"]) == (0.5, 0.25)
    values = by_name("KENT", club, around=Surroundings(capital_after=True, begins=True))
    assert [values[name] for name in ("upper", "capital_before", "capital_after", "begins")] == [1.0, 0.0, 1.0, 1.0]


def test_features_say_what_the_best_candidate_is() -> None:
    kinds = ("person", "place", "organization")
    for kind in (*kinds, "work", None):
        values = by_name(entity=Entity("Kent", type=kind))
        assert [name for name in kinds if values[name]] == ([kind] if kind in kinds else [])
    link = Link(Span(3, 7), source="dictionary", candidates=(KENT, BAND))
    told = features_of(link, "in Kent", lambda _: None, describe=lambda title: Entity(title, type="place"))
    assert dict(zip(FEATURES, told, strict=True))["place"] == 1.0


def test_features_say_who_proposed_a_mention() -> None:
    proposed = {source: by_name(source=source) for source in ("detector", "dictionary", "document")}
    assert [values["dictionary"] for values in proposed.values()] == [0.0, 1.0, 0.0]
    assert [values["repeated"] for values in proposed.values()] == [0.0, 0.0, 1.0]


def test_a_lone_candidate_is_told_from_one_that_is_left_of_many() -> None:
    alone, left = (by_name(candidates=(Candidate("Kent", score=2.0, prior=prior),)) for prior in (1.0, 0.6))
    assert alone["lone"] == left["lone"] == 1.0 and alone["left_out"] == 0.0 and left["left_out"] == pytest.approx(0.4)


def test_nil_among_the_candidates_is_no_rival() -> None:
    assert by_name(candidates=(KENT, Candidate("", score=1.9, prior=1.0), BAND))["margin"] == 1.5


def test_a_link_that_was_made_has_the_same_features() -> None:
    link = Link(Span(3, 7), source="dictionary", mention_logit=-2.0, mention_probability=0.1, candidates=(KENT, BAND))
    wanted = by_name(source="dictionary", mention_logit=-2.0, mention_probability=0.1)
    assert dict(zip(FEATURES, features_of(link, "in Kent", lambda _: None), strict=True)) == wanted


@given(st.floats(-100, 100), st.floats(0, 1), st.sampled_from(["detector", "dictionary", "given"]))
def test_features_are_finite(logit: float, probability: float, source: str) -> None:
    values = by_name(source=source, mention_logit=logit, mention_probability=probability)
    assert all(map(math.isfinite, values.values()))


@given(st.lists(st.floats(-10, 10), min_size=len(FEATURES), max_size=len(FEATURES)))
def test_the_shares_of_features_add_up_to_the_log_odds(values: list[float]) -> None:
    regression = Regression(bias=0.5, weights={"start": 1.0}, pairs={"start": {"start": -0.5, "end": 2.0}})
    start, end = values[0], values[1]
    assert sum(regression.shares(values).values()) == pytest.approx(start - 0.5 * start**2 + 2 * start * end)
    with pytest.raises(ConfigError, match="knows no feature 'weather'"):
        Regression(bias=0.0, weights={}, pairs={"start": {"weather": 1.0}})
