from __future__ import annotations

from parlink.kb.difference import Change, Difference, diff
from parlink.types import Entity
from tiny_kb import tiny_kb


def test_a_knowledge_base_does_not_differ_from_itself(tmp_path):
    view = tiny_kb(tmp_path).snapshot()
    assert diff(view, view) == Difference()


def test_every_kind_of_difference_is_told(tmp_path):
    kb = tiny_kb(tmp_path)
    old = kb.snapshot()
    kb.add(Entity("Ulm", id="u"))
    kb.remove("C#")
    kb.rename("Kent", "Kent (county)")
    kb.add_alias("HSV", "Hamburg")
    result = diff(old, kb.snapshot())
    assert (result.added, result.removed, result.renamed) == (["Ulm"], ["C#"], {"Kent": "Kent (county)"})
    assert result.changed == []
    assert {"ulm", "c", "hsv", "kentcounty"} <= set(result.names)
    back = diff(kb.snapshot(), old)
    assert (sorted(back.added), back.removed) == (["C#", "Kent"], ["Kent (county)", "Ulm"])


def test_what_is_known_may_change(tmp_path):
    old = tiny_kb(tmp_path / "old", [{"title": "Ulm", "id": "u1", "type": "place"}]).snapshot()
    new = tiny_kb(tmp_path / "new", [{"title": "Ulm", "id": "u2", "type": "place", "description": "city"}]).snapshot()
    assert diff(old, new).changed == [Change("Ulm", "id", "u1", "u2"), Change("Ulm", "description", None, "city")]
