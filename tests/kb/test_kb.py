from __future__ import annotations

import json
import pickle
import sqlite3
import time
from collections import defaultdict
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlink.errors import KnowledgeBaseError
from parlink.kb import KnowledgeBase, overlay_path, surfaces, tables
from parlink.kb.priors import STEP_WEIGHTS
from parlink.kb.verify import verify
from parlink.kb.view import LEAST_PRIOR
from parlink.types import Entity
from tiny_kb import LINES, found, tiny_folder, tiny_kb


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    return tiny_kb(tmp_path_factory.mktemp("kb"), url_template="https://example.org/{title}")


def test_it_holds_what_the_source_says(kb):
    assert len(kb) == len(LINES)
    assert set(kb.titles()) == {line["title"] for line in LINES}
    assert "Kent" in kb
    assert "kent" not in kb
    assert 7 not in kb
    assert kb.entity("Kent (band)") == Entity(
        "Kent (band)", id="Q1", description="Swedish rock band", url="https://example.org/Kent_(band)"
    )
    assert kb.entity("Kent") == Entity("Kent", description="county in England", url="https://example.org/Kent")
    assert kb.entity("kent") is None


def test_an_entity_says_how_well_known_it_is(kb):
    assert (kb.entity("Hamburger SV").popularity, kb.by_id("Q1").popularity) == (16, 5)


def test_priors_are_shares_of_counts(kb):
    hamburg = kb.candidates("HSV")
    assert [(c.title, c.prior, c.match_type) for c in hamburg] == [
        ("Hamburger SV", pytest.approx(0.75), "exact"),
        ("Hamburg", pytest.approx(0.25), "exact"),
    ]
    assert [c.prior for c in kb.candidates("Hamburg")] == pytest.approx([40 / 41, 1 / 41])


def test_an_alias_without_a_count_counts_as_often_as_its_entity(tmp_path):
    lines = [
        {"title": "Apple Inc.", "aliases": ["Apple", {"surface": "AAPL", "count": 2}], "count": 30},
        {"title": "Apple (fruit)", "aliases": ["Apple", "AAPL"]},
    ]
    kb = tiny_kb(tmp_path, lines)
    for surface, priors in (
        ("Apple", {"Apple Inc.": 30 / 31}),
        ("AAPL", {"Apple Inc.": 2 / 3, "Apple (fruit)": 1 / 3}),
    ):
        got = {candidate.title: candidate.prior for candidate in kb.candidates(surface)}
        assert {title: got[title] for title in priors} == pytest.approx(priors, rel=0.05)


def test_each_candidate_names_the_step_that_found_it(kb):
    assert found(kb, "Kent") == [
        ("Kent", "exact"),
        ("Kent County Cricket Club", "exact"),
        ("Kent (band)", "title"),
    ]
    assert found(kb, "KENT")[0] == ("Kent", "folded")
    assert found(kb, "Kent 's")[0] == ("Kent", "stripped")
    assert found(kb, "zurich") == [("Zürich", "folded")]
    assert found(kb, "Oberländer") == [("Emma Oberländer", "part"), ("Otto Oberländer", "part")]
    assert found(kb, "Lloyd") == [("Lloyd's of London", "stripped")]
    assert found(kb, "C++") == [("C++", "exact"), ("C#", "stripped")]
    assert found(kb, "!!!") == [("!!!", "exact")]
    assert found(kb, "Bremen") == found(kb, "") == found(kb, "\ud800") == found(kb, "?") == []


def test_candidates_carry_id_and_url(kb):
    (candidate,) = kb.candidates("Zürich")
    assert candidate.url == "https://example.org/Z%C3%BCrich"
    assert kb.candidates("HSV")[0].id == "Q51974"


def test_a_limit_cuts_the_list_and_not_the_priors(kb):
    (best,) = kb.candidates("HSV", limit=1)
    assert best.prior == pytest.approx(0.75)


def test_a_limit_cuts_among_equals_too(tmp_path):
    lines = [{"title": title, "aliases": ["town"], "count": 1} for title in ("Zwolle", "Aachen", "Mainz")]
    kb = tiny_kb(tmp_path, lines)
    for limit in range(1, 4):
        assert [c.title for c in kb.candidates("town", limit=limit)] == ["Aachen", "Mainz", "Zwolle"][:limit]


@pytest.mark.parametrize(
    ("identifier", "title"),
    [
        ("Kent (band)", "Kent (band)"),
        ("Kent_(band)", "Kent (band)"),
        ("kent (band)", "Kent (band)"),
        ("Q51974", "Hamburger SV"),
        ("https://en.wikipedia.org/wiki/Hamburger_SV#History", "Hamburger SV"),
        ("http://example.org/Z%C3%BCrich?action=raw", "Zürich"),
        ("http://www.wikidata.org/entity/Q1", "Kent (band)"),
        ("HSV", None),
        ("Q2", None),
        ("", None),
        ("\ud800", None),
    ],
)
def test_resolve_takes_titles_ids_and_urls(kb, identifier, title):
    assert kb.resolve(identifier) == title


def test_entities_can_be_gone_through_and_found_by_id(kb):
    assert list(kb) == list(kb.entities()) == [kb.entity(title) for title in kb.titles()]
    assert kb.by_id("Q51974") == kb.entity("Hamburger SV")
    assert kb.by_id("Q2") is kb.by_id("Kent") is None


def test_a_title_is_not_taken_for_an_id(kb):
    assert kb.resolve("Kent_(band)", ids=False) == "Kent (band)"
    assert kb.resolve("Q51974", ids=False) is None


def test_a_url_by_id_needs_an_id(tmp_path):
    kb = tiny_kb(tmp_path, url_template="https://example.org/item/{id}")
    assert kb.entity("Hamburg").url == "https://example.org/item/Q1055"
    assert kb.entity("Kent").url is None
    assert tiny_kb(tmp_path).entity("Hamburg").url is None


ALIASES = st.lists(
    st.tuples(
        st.sampled_from(["Kent", "KENT", "kent", "Kent's", "Ként", "Lee", "Ann Lee"]),
        st.sampled_from(["Kent", "Kent (x)", "Ann Lee", "Lee"]),
        st.integers(0, 5),
    ),
    max_size=8,
)


@settings(max_examples=30, deadline=None)
@given(aliases=ALIASES, surface=st.sampled_from(["Kent", "KENT", "kent's", "Lee", "ann lee"]))
def test_candidates_are_those_of_a_plain_table(aliases, surface, tmp_path_factory):
    """All steps united, each with its weight, as a dictionary would have it."""
    titles = ["Kent", "Kent (x)", "Ann Lee", "Lee"]
    lines = [{"title": title} for title in titles]
    lines += [{"surface": surface, "title": title, "count": count} for surface, title, count in aliases]
    kb = tiny_kb(tmp_path_factory.mktemp("kb"), lines)
    counts = defaultdict(int, {(title, title): 0 for title in titles})
    for alias, title, count in aliases:
        counts[alias, title] += count
    counts |= {(title, title): max(1, counts[title, title]) for title in titles}
    seen = {title: sum(count for (_, of), count in counts.items() if of == title) for title in titles}
    rows = [
        (surfaces.step(surface, name), title, count)
        for (name, title), count in counts.items()
        if surfaces.key(name) == surfaces.key(surface)
    ]
    rows += [(surfaces.TITLE, "Kent (x)", seen["Kent (x)"])] if surfaces.key(surface) == "kent" else []
    rows += [(surfaces.PART, "Ann Lee", seen["Ann Lee"])] if surfaces.key(surface) == "lee" else []
    mass, steps = defaultdict(float), {}
    for step, title, count in rows:
        made = step in (surfaces.TITLE, surfaces.PART)
        mass[title] += STEP_WEIGHTS[step] * ((count + 0.5) ** 0.6 if made else max(count, 0.01))
        steps[title] = min(step, steps.get(title, step))
    got = kb.candidates(surface)
    priors = {title: weight / sum(mass.values()) for title, weight in mass.items()}
    likely = {title for title, prior in priors.items() if prior >= LEAST_PRIOR}
    assert {c.title: c.prior for c in got} == pytest.approx({title: priors[title] for title in likely})
    assert {c.title: c.match_type for c in got} == {title: surfaces.STEPS[steps[title]] for title in likely}
    assert [c.prior for c in got] == sorted((c.prior for c in got), reverse=True)
    assert sum(c.prior for c in got) == pytest.approx(1, abs=4 * LEAST_PRIOR)


def test_of_equally_probable_titles_the_one_seen_most_comes_first(tmp_path):
    for often in ("Aachen", "Zwolle"):
        lines = [
            {"title": title, "aliases": ["town"], "count": 2 if title == often else 1} for title in ("Aachen", "Zwolle")
        ]
        assert found(tiny_kb(tmp_path, lines), "town")[0][0] == often


def test_it_names_itself_by_content(tmp_path):
    first = tiny_kb(tmp_path / "a", name="towns")
    assert first.name.startswith("towns-")
    assert tiny_kb(tmp_path / "b", name="towns").name == first.name
    assert tiny_kb(tmp_path / "c", LINES[:3], name="towns").name != first.name


def test_it_opens_again_in_another_process(kb):
    again = pickle.loads(pickle.dumps(kb))
    assert again.name == kb.name
    assert again.candidates("HSV") == kb.candidates("HSV")


def test_opening_maps_and_does_not_read(tmp_path):
    folder = tiny_folder(tmp_path, [{"title": f"Title {n} of many", "description": "d" * 200} for n in range(5000)])
    KnowledgeBase.open(folder)
    start = time.perf_counter()
    KnowledgeBase.open(folder)
    assert time.perf_counter() - start < 0.5


def test_a_folder_without_kb_is_refused(tmp_path):
    with pytest.raises(KnowledgeBaseError, match="parlink kb build"):
        KnowledgeBase.open(tmp_path)


def test_a_newer_format_is_refused(tmp_path):
    folder = tiny_folder(tmp_path)
    info = json.loads((folder / "kb.json").read_text())
    (folder / "kb.json").write_text(json.dumps({**info, "format": 99, "unheard": 1}))
    with pytest.raises(KnowledgeBaseError, match=r"format 99.*newer parlink"):
        KnowledgeBase.open(folder)


@pytest.mark.parametrize("name", ["kb.json", "arrays.safetensors", "titles.marisa", "keys.marisa", "ids.marisa"])
@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_a_damaged_folder_is_refused(tmp_path, name, damage):
    file = tiny_folder(tmp_path) / name
    content = file.read_bytes()
    file.unlink()
    if damage == "cut":
        file.write_bytes(content[: len(content) // 2])
    with pytest.raises(KnowledgeBaseError, match=r"again|no knowledge base"):
        KnowledgeBase.open(file.parent)


def test_a_folder_of_other_bytes_is_refused(tmp_path):
    folder = tiny_folder(tmp_path)
    for file in folder.glob("*.marisa"):
        file.write_bytes(b"x" * file.stat().st_size)
    with pytest.raises(KnowledgeBaseError, match="damaged"):
        KnowledgeBase.open(folder)


def flip(file, place=-5):
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.unlink()  # not in place: others may have it mapped
    file.write_bytes(content)


@pytest.mark.parametrize("name", ["kb.json", "arrays.safetensors", "titles.marisa", "keys.marisa", "ids.marisa"])
def test_verify_tells_a_single_bit(tmp_path, name):
    folder = tiny_folder(tmp_path)
    verify(folder)
    flip(folder / name)
    with pytest.raises(KnowledgeBaseError, match=r"damaged|broken"):
        verify(folder)
    with pytest.raises(KnowledgeBaseError, match=r"damaged|broken"):
        KnowledgeBase.open(folder)  # small files are read at opening


def test_a_large_file_is_checked_by_verify_only(tmp_path, monkeypatch):
    folder = tiny_folder(tmp_path)
    monkeypatch.setattr(tables, "CHECKED_BYTES", 0)
    flip(folder / "arrays.safetensors")
    KnowledgeBase.open(folder)
    with pytest.raises(KnowledgeBaseError, match=r"checksum of arrays\.safetensors is wrong"):
        verify(folder)


def test_verify_knows_folders_without_checksums(tmp_path):
    folder = tiny_folder(tmp_path)
    info = json.loads((folder / "kb.json").read_text())
    info["files"] = {name: file["size"] for name, file in info["files"].items()}
    (folder / "kb.json").write_text(json.dumps({name: info[name] for name in info if name != "checksum"}))
    assert found(KnowledgeBase.open(folder), "HSV")
    verify(folder)
    flip(folder / "arrays.safetensors")
    with pytest.raises(KnowledgeBaseError, match="damaged"):
        verify(folder)


def test_verify_reads_the_changes_too(tmp_path):
    kb = tiny_kb(tmp_path)
    kb.add(Entity("Bremen"))
    path = overlay_path(kb.folder)
    verify(kb.folder, overlay=path)
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE changes SET record = replace(record, 'Bremen', 'Bremem')")
    with pytest.raises(KnowledgeBaseError, match="damaged"):
        verify(kb.folder, overlay=path)


@pytest.mark.parametrize(
    ("array", "ask"),
    [
        ("name_start", lambda kb: kb.candidates("HSV")),
        ("name_title", lambda kb: kb.candidates("HSV")),
        ("id_title", lambda kb: kb.resolve("Q1055")),
        ("title_id", lambda kb: kb.entity("Hamburg")),
        ("title_description", lambda kb: kb.entity("Kent")),
    ],
)
def test_numbers_that_point_nowhere_are_an_error(tmp_path, monkeypatch, array, ask):
    kb = tiny_kb(tmp_path)
    monkeypatch.setitem(kb._tables._arrays, array, np.full_like(kb._tables._arrays[array], 255))
    for name in ("name_start", "name_title"):
        if name == array:
            wrong = np.full_like(kb._tables._arrays[name], 99) if name == "name_start" else np.full(99, 77)
            monkeypatch.setattr(kb._tables, f"_{name}", wrong.astype(np.uint32))
    with pytest.raises(KnowledgeBaseError, match="damaged"):
        ask(kb)


def test_kb_json_says_where_it_comes_from(tmp_path):
    folder = tiny_folder(tmp_path)
    info = KnowledgeBase.open(folder).info
    assert (info.titles, info.ids, info.descriptions) == (12, 3, 3)
    assert [source.path for source in info.sources] == ["kb.jsonl"]
    assert len(info.sources[0].sha256) == 64
    assert info.created.startswith("20")
    assert set(info.files) == {path.name for path in Path(folder).iterdir()} - {"kb.json"}
