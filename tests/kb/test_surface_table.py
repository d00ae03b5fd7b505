from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.errors import DataFormatError
from parlink.kb.surface_table import SurfaceTable
from parlink.types import Candidate, Document, Link, Span


def mention(surface: str, title: str | None, **priors: float | None) -> Document:
    candidates = tuple(Candidate(name, prior=prior) for name, prior in priors.items())
    return Document(surface, links=(Link(Span(0, len(surface)), title, candidates=candidates),))


def test_a_surface_has_the_union_of_its_mentions_candidates_nil_mentions_too() -> None:
    table = SurfaceTable.from_documents(
        [mention("Kent", "Kent", Kent=0.8, Club=0.2), mention("Kent", None, Kent=0.4, Clark=0.6), mention("Elbe", None)]
    )
    found = table.candidates("Kent", limit=30)
    assert [(c.title, round(c.prior or 0, 6)) for c in found] == [("Kent", 0.6), ("Clark", 0.3), ("Club", 0.1)]
    assert [c.title for c in table.candidates("Kent", limit=2)] == ["Kent", "Clark"]
    assert not table.candidates("kent", limit=30) and not table.candidates("Elbe", limit=30)
    assert len(table) == 1


def test_the_order_of_the_data_does_not_leak() -> None:
    table = SurfaceTable.from_documents([mention("X", "Zebra", Zebra=None, Ant=None)])
    assert [c.title for c in table.candidates("X", limit=9)] == ["Ant", "Zebra"]
    assert table.candidates("X", limit=9)[0].prior is None


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from("ABCDE"), st.floats(0.01, 1), min_size=1), min_size=1, max_size=5))
def test_priors_are_means_brought_to_sum_one(occurrences: list[dict[str, float]]) -> None:
    found = SurfaceTable.from_documents([mention("x", None, **priors) for priors in occurrences]).rows["x"]
    means = {t: sum(o.get(t, 0.0) for o in occurrences) / len(occurrences) for o in occurrences for t in o}
    priors = {c.title: c.prior or 0.0 for c in found}
    assert priors == pytest.approx({t: mean / sum(means.values()) for t, mean in means.items()})
    assert [c.prior for c in found] == sorted(priors.values(), reverse=True)


def test_save_and_load(tmp_path: Path) -> None:
    table = SurfaceTable.from_documents([mention("Kent", "Kent", Kent=0.75, Club=0.25), mention('Zü\n"x', "A", A=None)])
    table.save(tmp_path / "t.json")
    assert SurfaceTable.load(tmp_path / "t.json") == table
    SurfaceTable({}).save(tmp_path / "empty.json")
    assert len(SurfaceTable.load(tmp_path / "empty.json")) == 0


def test_a_plain_table_of_titles_keeps_its_order(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text('{"Kent": ["Kent (England)", "Clark Kent"], "none": []}')
    assert [c.title for c in SurfaceTable.load(path).candidates("Kent", limit=5)] == ["Kent (England)", "Clark Kent"]
    assert not SurfaceTable.load(path).candidates("none", limit=5)


@pytest.mark.parametrize("content", ["[1]", '{"a": "b"}', '{"a": [{"prior": 1}]}', "{"])
def test_a_broken_table_is_an_error_that_names_the_file(tmp_path: Path, content: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(content)
    with pytest.raises(DataFormatError, match=r"t\.json: wanted a JSON object of surface"):
        SurfaceTable.load(path)
