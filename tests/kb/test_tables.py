from __future__ import annotations

import json
from array import array
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.errors import KnowledgeBaseError
from parlink.kb import KnowledgeBase, arrays
from parlink.kb.build.merge import Known
from parlink.kb.info import content_hash, sha256_of
from parlink.kb.link_graph import LINKS_FILE, LinkGraph
from parlink.kb.tables import TYPES
from parlink.types import Entity
from tiny_kb import LINES, folder_of, tiny_folder, tiny_kb

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)
WHAT = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["", *TYPES]),
        "kind": st.sampled_from(["", "SoccerPlayer", "City"]),
        "description": st.sampled_from(["", "a city", "city"]) | TEXT,
        "id": st.sampled_from(["", "Q1", "Q2"]),
        "popularity": st.none() | st.integers(0, 2**33),
        "pages": st.sets(st.integers(0, 2**64 - 1), max_size=4).map(lambda keys: array("Q", sorted(keys))),
    }
)


@settings(max_examples=40, deadline=None)
@given(known=st.dictionaries(st.sampled_from("ABCDE"), WHAT, min_size=1))
def test_what_is_known_of_an_entity_comes_back(known, tmp_path_factory):
    entities = [Known(title, counts=Counter({title: 3}), **what) for title, what in known.items()]
    view = KnowledgeBase.open(folder_of(entities, tmp_path_factory.mktemp("kb") / "kb")).snapshot()
    keys = sorted({key for what in known.values() for key in what["pages"]})
    for title, what in known.items():
        assert view.entity(title) == Entity(
            title, id=what["id"] or None, type=what["type"] or None, description=what["description"] or None
        )
        assert view.kind(title) == (what["kind"] or None)
        assert [keys[number] for number in view.pages(title)] == what["pages"].tolist()
    given_popularity = {title: what["popularity"] or 0 for title, what in known.items()}
    if any(given_popularity.values()):
        assert {title: view.popularity(title) for title in known} == given_popularity
    else:
        assert {view.popularity(title) for title in known} == {3}
    assert view.tables.info.id_scheme == ("wikidata" if any(what["id"] for what in known.values()) else None)
    assert view.tables.info.types == sum(bool(what["type"]) for what in known.values())


@settings(max_examples=40, deadline=None)
@given(lists=st.lists(st.sets(st.integers(0, 9)), min_size=1, max_size=6))
def test_the_graph_gives_the_pages_of_a_title(lists, tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / LINKS_FILE
    times = Counter(page for pages in lists for page in pages)
    groups = arrays.Groups.of(np.array([*map(len, lists)]))
    columns = {
        "link_start": groups.start,
        "link_many": groups.many,
        "link_page": np.array([page for pages in lists for page in sorted(pages)], np.uint32),
        "page_links": arrays.unsigned(np.array([times[page] for page in range(10)])),
    }
    arrays.write(path, columns)
    graph = LinkGraph.open(path, len(lists))
    for number, pages in enumerate(lists):
        assert graph.pages(number).tolist() == sorted(pages)
    numbers = np.arange(len(lists))[::-1]
    many, listed = graph.pages_of(numbers)
    assert many.tolist() == [len(lists[number]) for number in numbers]
    assert listed.tolist() == [page for number in numbers for page in sorted(lists[number])]
    weights = graph.page_weights(np.arange(10))
    for page in range(10):
        assert weights[page] == pytest.approx(1 / np.log(1 + max(times[page], 1)))
    with pytest.raises(ValueError, match="not the graph"):
        LinkGraph.open(path, len(lists) + 1)


def test_a_graph_that_points_nowhere_is_an_error(tmp_path):
    columns = {"link_start": [0], "link_many": [1], "link_page": [7], "page_links": [1, 1]}
    arrays.write(tmp_path / LINKS_FILE, {name: arrays.unsigned(np.array(column)) for name, column in columns.items()})
    with pytest.raises(KnowledgeBaseError, match="damaged"):
        LinkGraph.open(tmp_path / LINKS_FILE, 1).pages(0)
    with pytest.raises(KnowledgeBaseError, match="damaged"):
        LinkGraph.open(tmp_path / LINKS_FILE, 1).pages_of(np.array([0]))


def test_a_knowledge_base_without_a_graph_has_no_pages(tmp_path):
    view = tiny_kb(tmp_path).snapshot()
    assert view.pages("Kent").tolist() == view.pages("nobody").tolist() == []
    assert view.page_weights(np.empty(0, np.int64)).tolist() == []
    assert view.linked("Kent") is None


def test_an_added_entity_has_a_type_and_no_pages(tmp_path):
    kb = tiny_kb(tmp_path, [*LINES, {"title": "Ulm", "type": "place", "links": ["Kent"]}])
    kb.add(Entity("Bremen", type="place", description="port"), count=3)
    kb.rename("Ulm", "Ulm (city)")
    view = kb.snapshot()
    assert view.entity("Bremen") == Entity("Bremen", type="place", description="port")
    assert (view.popularity("Bremen"), view.popularity("nobody"), view.kind("Bremen")) == (3, 0, None)
    assert view.pages("Bremen").tolist() == []
    many, pages = view.pages_of(["Ulm (city)", "nobody", "Kent", "Bremen", "Ulm"])
    assert many.tolist() == [len(view.pages(title)) for title in ("Ulm (city)", "nobody", "Kent", "Bremen", "Ulm")]
    assert pages.tolist() == [*view.pages("Ulm (city)"), *view.pages("Kent"), *view.pages("Ulm")]
    assert view.entity("Ulm (city)").type == "place"
    assert len(view.pages("Kent")) == 1
    with pytest.raises(KnowledgeBaseError, match=r"'town' is no type.*person"):
        kb.add(Entity("Jena", type="town"))


def test_how_often_a_name_is_a_link(tmp_path):
    text = "Kent and Kent and KENT and nobody"
    document = {"text": text, "links": [{"start": 0, "end": 4, "title": "Kent"}]}
    view = tiny_kb(tmp_path, [{"title": "Kent"}, {"title": "Ulm"}, document]).snapshot()
    assert view.linked("Kent").probability == pytest.approx(1)  # of the pages that have it
    assert not view.linked("Kent").is_guess
    assert view.linked("Ulm").is_guess
    assert view.linked("nobody") is None


@pytest.mark.parametrize(
    ("ids", "scheme"), [(["Q1", "Q22"], "wikidata"), (["7", "8"], "own"), (["Q1", "x"], "own"), ([], None)]
)
def test_a_knowledge_base_names_its_id_scheme(tmp_path, ids, scheme):
    lines = [{"title": "A"}, *({"title": f"B {number}", "id": number} for number in ids)]
    assert tiny_kb(tmp_path, lines).info.id_scheme == scheme


def make_old(folder):
    """Turn a folder into one of format 1."""
    view = KnowledgeBase.open(folder).snapshot()
    columns = {name: np.array(column) for name, column in view.tables._arrays.items() if name != "title_description"}
    texts = [(view.tables.description(number) or "").encode() for number in range(len(view))]
    columns["description_start"] = arrays.unsigned(np.cumsum([0, *map(len, texts)]))
    columns["description"] = np.frombuffer(b"".join(texts), np.uint8)
    (folder / "descriptions.marisa").unlink()
    (folder / "arrays.safetensors").unlink()
    arrays.write(folder / "arrays.safetensors", columns)
    info = json.loads((folder / "kb.json").read_text())
    for name in ("checksum", "id_scheme", "types"):
        del info[name]
    files = [file for file in folder.iterdir() if file.name != "kb.json"]
    info |= {"format": 1, "files": {file.name: file.stat().st_size for file in files}}
    info["hash"] = content_hash({file.name: sha256_of(file) for file in files})
    (folder / "kb.json").write_text(json.dumps(info))


def test_a_folder_of_format_1_still_opens(tmp_path):
    new, old = tiny_folder(tmp_path / "new"), tiny_folder(tmp_path / "old")
    make_old(old)
    new_kb, old_kb = KnowledgeBase.open(new), KnowledgeBase.open(old)
    assert [old_kb.entity(title) for title in new_kb.titles()] == [new_kb.entity(title) for title in new_kb.titles()]
    assert old_kb.candidates("Kent") == new_kb.candidates("Kent")
    assert (old_kb.info.id_scheme, old_kb.info.format, new_kb.info.format) == (None, 1, 5)


def test_a_damaged_description_of_format_1_is_an_error(tmp_path, monkeypatch):
    folder = tiny_folder(tmp_path)
    make_old(folder)
    for name, value in (("description", 255), ("description_start", 200)):
        kb = KnowledgeBase.open(folder)
        column = np.full_like(kb._tables._arrays[name], value)
        if name == "description_start":
            column[::2] = 0
        monkeypatch.setitem(kb._tables._arrays, name, column)
        with pytest.raises(KnowledgeBaseError, match="damaged"):
            [kb.entity(title) for title in kb.titles()]
