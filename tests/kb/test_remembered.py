"""What is remembered of a state is what the state says, and no more of it than there is room for."""

from __future__ import annotations

from pathlib import Path

import pytest

from parlink.kb import remembered
from parlink.kb.remembered import RememberedView
from parlink.types import Entity
from tiny_kb import tiny_kb


def test_answers_are_those_of_the_view_also_the_second_time(tmp_path: Path) -> None:
    view = tiny_kb(tmp_path).snapshot()
    known = RememberedView(view)
    for surface in ("Kent", "HSV", "nobody", "Kent", "x" * 100):
        assert known.candidates(surface, limit=5) == view.candidates(surface, limit=5)
        assert known.candidates(surface, limit=1) == view.candidates(surface, limit=1)
        assert known.linked(surface) == view.linked(surface)
        assert known.entity(surface) == view.entity(surface)
        assert known.description(surface) == view.description(surface)
    assert known.candidates("Kent", limit=5) is known.candidates("Kent", limit=5)


def test_the_memory_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "SURFACES", 3)
    known = RememberedView(tiny_kb(tmp_path).snapshot())
    for number in range(10):
        known.candidates(f"name {number}", limit=5)
        assert len(known._candidates) <= 3


def test_what_is_long_is_not_kept(tmp_path: Path) -> None:
    kb = tiny_kb(tmp_path, [{"title": "Kent", "description": "d" * 300_000, "aliases": ["county"]}, {"title": "Ulm"}])
    view = RememberedView(kb.snapshot())
    assert view.entity("Kent") == kb.entity("Kent")
    assert view.entity("t" * 300_000) is None and view.entity("Ulm") == kb.entity("Ulm")
    assert list(view._entities) == ["Ulm"]
    long = tiny_kb(tmp_path / "long", [{"title": f"{'t' * 30_000}{n}", "aliases": ["town"]} for n in range(3)])
    view = RememberedView(long.snapshot())
    assert view.candidates("town", limit=3) == long.candidates("town", limit=3) and not view._candidates


def test_a_former_title_is_what_it_is_called_now(tmp_path: Path) -> None:
    kb = tiny_kb(tmp_path, [{"title": "Kent", "description": "county", "links": ["Ulm"]}, {"title": "Ulm"}])
    pages = kb.snapshot().pages("Ulm").tolist()
    kb.rename("Ulm", "Ulm (city)")
    view = kb.snapshot()
    assert pages and view.pages("Ulm").tolist() == view.pages("Ulm (city)").tolist() == pages
    assert RememberedView(view).entity("Ulm") == view.entity("Ulm (city)") != view.entity("Kent")


def test_a_description_is_that_of_the_entity_whatever_was_changed(tmp_path: Path) -> None:
    kb = tiny_kb(tmp_path, [{"title": "Kent", "description": "county"}, {"title": "Ulm", "description": "city"}])
    kb.add(Entity("Elbe", description="river"))
    kb.rename("Ulm", "Ulm (city)")
    kb.remove("Kent")
    view = kb.snapshot()
    said = {title: RememberedView(view).description(title) for title in ("Elbe", "Ulm", "Ulm (city)", "Kent", "none")}
    assert said == {"Elbe": "river", "Ulm": "city", "Ulm (city)": "city", "Kent": None, "none": None}
