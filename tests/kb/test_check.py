from __future__ import annotations

from collections import Counter

from parlink.kb import KnowledgeBase, check
from parlink.kb.build.merge import Known
from tiny_kb import folder_of, tiny_kb


def findings(titles, tmp_path):
    return check.check(tiny_kb(tmp_path, [{"title": title} for title in titles]).snapshot())


def test_twins_are_told_by_what_they_differ_in(tmp_path):
    titles = ["Kent", "KENT", "Zurich", "Zürich", "The Who", "Who", "AT&T", "AT T", "Ulm", "Ulm (city)"]
    found = findings(titles, tmp_path)
    assert {what: found[what].examples for what in check.TWINS.values()} == {
        "titles that differ only in case": ["KENT / Kent"],
        "titles that differ only in accents": ["Zurich / Zürich"],
        "titles that differ only in punctuation": ["AT T / AT&T"],
        "titles that differ only in a leading The": ["The Who / Who"],
    }
    assert found[check.REDIRECTS].count == found[check.LOST].count == found[check.CROWDED].count == 0
    assert found[check.UNTYPED].count == found[check.WITHOUT_ID].count == len(titles)


def test_redirects_and_names_that_find_nothing(tmp_path):
    entities = [
        Known("Kent", counts=Counter({"Kent": 1})),
        Known("Kent (county)", counts=Counter({"Kent (county)": 1, "Kent": 1}), redirects={"Kent"}),
        Known("Ulm", counts=Counter({"the town": 1})),
        *(Known(f"Lee ({number})", counts=Counter({"Lee": 5, f"Lee ({number})": 1})) for number in range(30)),
        Known("Lee", counts=Counter({"Lee": 1})),
    ]
    found = check.check(KnowledgeBase.open(folder_of(entities, tmp_path / "kb")).snapshot())
    assert found[check.REDIRECTS].examples == ["Kent (leads to Kent (county))"]
    assert found[check.LOST].examples == ["Ulm"]
    assert found[check.CROWDED].examples == ["Lee"]


def test_many_are_counted_and_some_are_shown(tmp_path):
    found = findings([f"Town {number}" for number in range(check.EXAMPLES + 5)], tmp_path)
    assert found[check.UNDESCRIBED].count == check.EXAMPLES + 5
    assert len(found[check.UNDESCRIBED].examples) == check.EXAMPLES
