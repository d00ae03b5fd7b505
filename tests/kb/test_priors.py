"""The weights of names: by how far their spelling is, and for names made of titles by how well known these are."""

import numpy as np
import pytest

from parlink.kb import surfaces
from parlink.kb.names import ALIAS, PART, Names
from parlink.kb.priors import STEP_WEIGHTS, weigh
from parlink.kb.view import LEAST_PRIOR
from tiny_kb import tiny_kb


def make_names(kind, counts):
    size = len(counts)
    return Names(
        title=np.arange(size),
        kind=np.full(size, kind),
        form=np.zeros(size, np.uint16),
        count=np.array(counts, np.float64),
    )


def test_a_far_spelling_weighs_less():
    weights = weigh(make_names(ALIAS, [10, 10, 10]), np.array([surfaces.EXACT, surfaces.FOLDED, surfaces.STRIPPED]))
    assert weights.tolist() == pytest.approx([10 * weight for weight in STEP_WEIGHTS[:3]])


def test_only_the_best_known_of_many_titles_are_found_by_a_part():
    counts = list(range(100))
    weights = weigh(make_names(PART, counts), np.full(100, surfaces.PART))
    assert np.flatnonzero(weights).tolist() == counts[-30:]


def test_unlikely_candidates_are_dropped_but_never_all(tmp_path):
    lines = [{"title": "Kent", "count": 5000}, {"title": "Kent Town", "aliases": ["Kent"]}]
    assert [c.title for c in tiny_kb(tmp_path, lines).candidates("Kent")] == ["Kent"]
    many = [{"title": f"Saint {number}", "aliases": ["Saint"]} for number in range(600)]
    candidates = tiny_kb(tmp_path / "b", many).candidates("Saint")
    assert len(candidates) == 30
    assert candidates[0].prior < LEAST_PRIOR


def test_what_is_well_known_comes_first_by_its_short_title(tmp_path):
    lines = [{"title": "Kent (band)", "popularity": 3}, {"title": "Kent (county)", "popularity": 90}]
    kb = tiny_kb(tmp_path / "kb", lines)
    assert [c.title for c in kb.candidates("Kent")] == ["Kent (county)", "Kent (band)"]
    assert kb.snapshot().popularity("Kent (county)") == 90


def test_redirects_and_classes_of_an_entry_are_kept(tmp_path):
    lines = [{"title": "Myanmar", "redirects": ["Burma"], "kind": "Country", "type": "place"}]
    kb = tiny_kb(tmp_path / "kb", lines)
    assert kb.resolve("Burma") == "Myanmar"
    assert (kb.entity("Myanmar").type, kb.snapshot().kind("Myanmar")) == ("place", "Country")
    assert kb.candidates("Burma")[0].title == "Myanmar"
