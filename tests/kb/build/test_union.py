from __future__ import annotations

from array import array
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.kb import KnowledgeBase
from parlink.kb.build.merge import Known
from parlink.kb.build.union import merge
from parlink.kb.tables import LINKED_SCALE
from parlink.types import Entity
from tiny_kb import folder_of, tiny_kb

TITLES = ("Kent", "Kent (band)", "Ann Lee", "Lee")
COUNTS = st.dictionaries(st.sampled_from([*TITLES, "K", "kent"]), st.integers(1, 9), max_size=4)
ENTITIES = st.dictionaries(st.sampled_from(TITLES), COUNTS, min_size=1)


def entity(title, counts, **known):
    return Known(title, counts=Counter({title: 1}) + Counter(counts), **known)


def opened(entities, folder):
    return KnowledgeBase.open(folder_of(entities, folder))


@settings(max_examples=40, deadline=None)
@given(first=ENTITIES, second=ENTITIES)
def test_counts_add_up_as_if_both_had_been_built_together(first, second, tmp_path_factory):
    place = tmp_path_factory.mktemp("kb")
    a, b = ([entity(title, counts) for title, counts in each.items()] for each in (first, second))
    merge(opened(a, place / "a"), opened(b, place / "b"), place / "c")
    both = {each.title: Known(each.title) for each in (*a, *b)}
    for each in (*a, *b):
        both[each.title].counts += each.counts
    merged, wanted = KnowledgeBase.open(place / "c"), opened(both.values(), place / "d")
    assert set(merged.titles()) == set(wanted.titles())
    for surface in (*TITLES, "K", "kent", "lee"):
        assert merged.candidates(surface) == wanted.candidates(surface)


def test_the_first_is_right_and_the_second_fills_in(tmp_path):
    pages = array("Q", [5, 7])
    first = [entity("Kent", {}, id="Q1", description="county"), entity("Ulm", {}, pages=pages)]
    second = [
        entity("Kent", {}, id="Q2", type="place", description="another", pages=pages),
        entity("Ulm", {}, id="Q3", kind="City"),
    ]
    merge(opened(first, tmp_path / "a"), opened(second, tmp_path / "b"), tmp_path / "c")
    merged = KnowledgeBase.open(tmp_path / "c")
    assert merged.entity("Kent") == Entity("Kent", id="Q1", type="place", description="county")
    assert merged.entity("Ulm") == Entity("Ulm", id="Q3")
    view = merged.snapshot()
    assert (view.kind("Ulm"), len(view.pages("Kent")), len(view.pages("Ulm"))) == ("City", 2, 2)
    assert merged.info.notes == {"entities that both have, made one": 2}


def test_the_same_entity_under_two_titles_becomes_one(tmp_path):
    first = [entity("Kent", {}, id="Q1"), entity("Ulm", {"Ulma": 2}, redirects={"Ulma"})]
    second = [entity("Kent (county)", {"K": 3}, id="Q1"), entity("Ulma", {"U": 1}), entity("Jena", {}, id="Q9")]
    merge(opened(first, tmp_path / "a"), opened(second, tmp_path / "b"), tmp_path / "c")
    merged = KnowledgeBase.open(tmp_path / "c")
    assert sorted(merged.titles()) == ["Jena", "Kent", "Ulm"]
    assert merged.resolve("Kent (county)") == merged.candidates("K")[0].title == "Kent"
    assert merged.resolve("Ulma") == merged.candidates("U")[0].title == "Ulm"
    assert merged.by_id("Q9").title == "Jena"


def test_ids_of_another_scheme_are_left_out(tmp_path):
    first, second = [entity("Kent", {}, id="Q1")], [entity("Ulm", {}, id="u1")]
    merge(opened(first, tmp_path / "a"), opened(second, tmp_path / "b"), tmp_path / "c")
    merged = KnowledgeBase.open(tmp_path / "c")
    assert (merged.entity("Kent").id, merged.entity("Ulm").id, merged.info.id_scheme) == ("Q1", None, "wikidata")


def test_changes_and_link_probabilities_go_along(tmp_path):
    text = {"text": "Kent and KENT", "links": [{"start": 0, "end": 4, "title": "Kent"}]}
    first = tiny_kb(tmp_path / "a", [{"title": "Kent"}, {"title": "Ulm"}, text])
    first.rename("Ulm", "Ulm (city)")
    first.add(Entity("Bremen", type="place"), aliases=["HB"])
    second = tiny_kb(tmp_path / "b", [{"title": "Jena"}])
    merge(first, second, tmp_path / "c")
    merged = KnowledgeBase.open(tmp_path / "c")
    assert sorted(merged.titles()) == ["Bremen", "Jena", "Kent", "Ulm (city)"]
    assert merged.resolve("Ulm") == "Ulm (city)"
    assert merged.candidates("HB")[0].title == "Bremen"
    view = merged.snapshot()
    assert view.linked("Kent") == first.snapshot().linked("Kent")
    assert view.linked("Jena").is_guess


def test_a_guess_of_a_merged_kb_is_what_names_of_that_shape_were(tmp_path):
    texts = [
        {"text": "Kent by the sea", "links": [{"start": 0, "end": 4, "title": "Kent"}]},
        {"text": "the sea, the sea", "links": []},
        {"text": "a sea", "links": [{"start": 2, "end": 5, "title": "Sea"}]},
    ]
    first = tiny_kb(tmp_path / "a", [{"title": "Kent"}, {"title": "Sea"}, {"title": "Bonn"}, *texts])
    second = tiny_kb(tmp_path / "b", [{"title": "Jena"}, {"title": "Rome", "aliases": ["rom"]}])
    merge(first, second, tmp_path / "c")
    before, after = first.snapshot(), KnowledgeBase.open(tmp_path / "c").snapshot()
    assert before.linked("Bonn").probability != before.tables.shape_linked.mean() / LINKED_SCALE
    assert after.linked("Bonn") == before.linked("Bonn")
    assert after.linked("Jena") == before.linked("Bonn")  # which looks like it
    assert after.linked("rom").probability < after.linked("Jena").probability
