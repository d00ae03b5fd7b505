"""A knowledge base with changes answers exactly as one that is built anew with the changes in it."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import example, given, note, settings
from hypothesis import strategies as st

from parlink.errors import KnowledgeBaseError
from parlink.kb import KnowledgeBase, surfaces
from parlink.kb.build.merge import Known
from parlink.types import Entity
from tiny_kb import LINES, folder_of, tiny_kb

TITLES = ("Kent", "Kent (band)", "Ann Lee", "Lee", "Ann the Lee", "KENT", "Ulm", "Ulm (city)", "Old Kent", "Xyz")
SURFACES = (*TITLES, "kent", "Ként", "Kent's", "The Lee", "lee", "ulm", "Ulma", "xyz", "the Kent", "K")
IDS = ("q1", "q2", "q3")
URL = "https://example.org/{id}/{title}"


def base() -> list[Known]:
    return [
        Known("Kent", id="q1", type="place", description="county", counts=Counter({"Kent": 30, "kent": 0, "K": 2})),
        Known("Kent (band)", id="q2", counts=Counter({"Kent (band)": 5, "Kent": 1})),
        Known("Ann Lee", id="q2", counts=Counter({"Ann Lee": 5, "Lee": 0}), redirects=set()),
        Known(
            "Ann the Lee", counts=Counter({"Ann the Lee": 1, "xyz": 1, "Old Kent": 2}), redirects={"Old Kent", "xyz"}
        ),
        Known("Ulm", description="city", counts=Counter({"Ulm": 1})),
    ]


ENTITY = st.integers(0, 99)  # which of those that are there
CHANGE = st.one_of(
    st.tuples(
        st.just("add"),
        st.sampled_from(TITLES),
        st.sampled_from([None, *IDS]),
        st.sampled_from([None, "new"]),
        st.sampled_from([None, "person", "other"]),
        st.lists(st.sampled_from(SURFACES), max_size=2),
        st.integers(1, 3),
    ),
    st.tuples(st.just("rename"), ENTITY, st.sampled_from(TITLES)),
    st.tuples(st.just("remove"), ENTITY),
    st.tuples(st.just("add_alias"), ENTITY, st.sampled_from(SURFACES), st.integers(1, 3)),
    st.tuples(st.just("remove_alias"), ENTITY, st.sampled_from(SURFACES)),
)


class Plain:
    """The same changes, made to a plain list of entities."""

    def __init__(self) -> None:
        self.entities = {entity.title: entity for entity in base()}

    def pick(self, number: int) -> Known | None:
        return self.entities[sorted(self.entities)[number % len(self.entities)]] if self.entities else None

    def take(self, title: str, entity: Known) -> None:
        """A title that an entity takes leads to no other."""
        for other in self.entities.values():
            if other is not entity:
                other.redirects.discard(title)
        entity.title = title
        entity.counts[title] = max(1, entity.counts[title])
        self.entities[title] = entity

    def add(self, title, identifier, description, type_, aliases, count):
        entity = Known(title, id=identifier or "", description=description or "", counts=Counter(aliases))
        entity.type = type_ or ""
        entity.counts[title] += 1
        entity.counts = Counter({name: times * count for name, times in entity.counts.items()})
        self.take(title, entity)

    def rename(self, entity, title):
        del self.entities[entity.title]
        entity.counts[entity.title] = max(1, entity.counts[entity.title])  # still found by it
        entity.redirects = (entity.redirects | {entity.title}) - {title}
        self.take(title, entity)

    def remove_alias(self, entity, surface):
        key = surfaces.key(surface)
        entity.hidden.add(key)
        for name in [name for name in entity.counts if surfaces.key(name) == key]:
            del entity.counts[name]
        entity.redirects = {name for name in entity.redirects if surfaces.key(name) != key}


def change(kb: KnowledgeBase, plain: Plain, what: str, *values) -> None:
    if what == "add":
        title, identifier, description, type_, aliases, count = values
        if title in plain.entities:
            with pytest.raises(KnowledgeBaseError, match="there already"):
                kb.add(Entity(title))
            return
        kb.add(Entity(title, id=identifier, type=type_, description=description), aliases=aliases, count=count)
        plain.add(*values)
        return
    entity = plain.pick(values[0])
    if entity is None:
        return
    if what == "rename" and values[1] not in plain.entities:
        kb.rename(entity.title, values[1])
        plain.rename(entity, values[1])
    elif what == "remove":
        kb.remove(entity.title)
        del plain.entities[entity.title]
    elif what == "add_alias":
        kb.add_alias(values[1], entity.title, count=values[2])
        entity.counts[values[1]] += values[2]
    elif what == "remove_alias" and kb.snapshot().finds(values[1], entity.title):
        kb.remove_alias(values[1], entity.title)
        plain.remove_alias(entity, values[1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return folder_of(base(), tmp_path_factory.mktemp("base") / "kb", url_template=URL)


@settings(max_examples=100, deadline=None)
@given(changes=st.lists(CHANGE, max_size=12))
@example([("rename", 0, "Ulm (city)"), ("rename", 3, "Ann Lee"), ("add", "KENT", "q2", None, "other", ["K"], 2)])
@example([("add", "Old Kent", None, None, None, [], 1), ("rename", 4, "Lee"), ("remove", 4)])
def test_changes_and_a_new_build_answer_alike(folder, tmp_path_factory, changes):
    place = tmp_path_factory.mktemp("kb")
    kb, early = (KnowledgeBase.open(folder, overlay=place / "changes.sqlite") for _ in range(2))
    plain = Plain()
    note(repr(changes))
    for each in changes:
        change(kb, plain, *each)
        assert len(early) == len(plain.entities)
    if not plain.entities:
        return
    anew = KnowledgeBase.open(folder_of(plain.entities.values(), place / "anew", url_template=URL))
    for changed in (kb, early, KnowledgeBase.open(folder, overlay=place / "changes.sqlite"), kb.snapshot()):
        check_alike(changed, anew)


def check_alike(kb, anew):
    assert len(kb) == len(anew)
    assert sorted(kb.titles()) == sorted(anew.titles())
    for title in TITLES:
        assert kb.entity(title) == anew.entity(title)
        assert (title in kb) == (title in anew)
    for name in (*SURFACES, *IDS):
        assert kb.resolve(name) == anew.resolve(name)
        assert kb.resolve(name, ids=False) == anew.resolve(name, ids=False)
    for surface in SURFACES:
        assert kb.candidates(surface) == anew.candidates(surface)  # priors to the last bit
        assert kb.candidates(surface, limit=1) == anew.candidates(surface, limit=1) == anew.candidates(surface)[:1]


@pytest.mark.parametrize(
    "line", [{"title": "Ulm", "id": "u2", "count": 5, "aliases": ["Ulma"]}, {"title": "Ulm", "count": 5}]
)
def test_an_added_entity_that_was_built_in_has_one_id(tmp_path, line):
    tiny_kb(tmp_path).add(Entity("Ulm", id="u1", description="a city"), aliases=["Ulma"], count=5)
    again = tiny_kb(tmp_path, [*LINES, line])
    assert again.entity("Ulm").id == again.candidates("Ulm")[0].id == "u1"
    assert again.entity("Ulm").description == "a city"
    assert again.resolve("u1") == "Ulm"
    view = again.snapshot()
    assert view.seen(view.names("ulm").title).tolist() == [10]  # not counted twice
    again.rename("Ulm", "Ulm (city)")
    assert again.entity("Ulm (city)").id == again.candidates("Ulma")[0].id == "u1"
    again.remove("Ulm (city)")
    assert len(again) == len(LINES)


def test_of_equals_the_first_in_the_alphabet_comes_first(tmp_path):
    kb = tiny_kb(tmp_path, [{"title": f"Town {letter}", "aliases": ["town"]} for letter in "CADB"])
    assert [candidate.title for candidate in kb.candidates("town", limit=3)] == ["Town A", "Town B", "Town C"]
    kb.rename("Town B", "Town E")
    kb.add_alias("Town E", "Town E", count=3)
    assert [candidate.title for candidate in kb.candidates("town", limit=3)] == ["Town E", "Town A", "Town C"]
