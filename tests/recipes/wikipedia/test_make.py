from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from parlink.errors import DataFormatError, KnowledgeBaseError
from parlink.kb import KnowledgeBase
from recipes.wikipedia.collect import Tables
from recipes.wikipedia.make import clean, make
from recipes.wikipedia.pool import Pool
from recipes.wikipedia.sources import SOURCES, Data
from recipes.wikipedia.texts import Texts
from tiny_data import linked, write_data

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made")
    data = write_data(place / "data")
    make(Data(data, data / "train.jsonl", data / "recent"), place / "kb", titles=None)
    return place


@pytest.fixture(scope="module")
def kb(folder: Path) -> KnowledgeBase:
    return KnowledgeBase.open(folder / "kb")


def test_titles_are_those_of_entities(kb: KnowledgeBase) -> None:
    titles = set(kb.titles())
    assert {
        "Freddie Mercury",
        "Kent (band)",
        "Planet",
        "!!!",
        "Zürich",
        "Old Town (Stockholm)",
        "Eskilstuna 1",
    } <= titles
    assert titles.isdisjoint({"Mercury", "List of planets", "List of towns", "1999", "ICJ", "Kepler, Johannes"})


def test_former_titles_and_twins_lead_to_the_title(kb: KnowledgeBase) -> None:
    assert kb.resolve("ICJ") == "International Court of Justice"
    assert kb.resolve("Kepler, Johannes") == "Johannes Kepler"
    assert kb.resolve("Senate of Nigeria") == "Senate (Nigeria)"


def test_names_find_titles(kb: KnowledgeBase) -> None:
    assert [each.title for each in kb.candidates("Mercury")][:2] == ["Freddie Mercury", "Mercury (planet)"]
    assert [each.title for each in kb.candidates("Kent")] == ["Kent (band)"]
    assert [each.title for each in kb.candidates("Zuerich")] == ["Zürich"]


def test_entities_have_types_descriptions_and_ids(kb: KnowledgeBase) -> None:
    singer, band, city = (kb.entity(title) for title in ("Freddie Mercury", "Kent (band)", "Eskilstuna"))
    assert singer and (singer.id, singer.type, singer.description) == (
        "Q15869",
        "person",
        "British singer and songwriter",
    )
    assert band and (band.type, band.description) == ("organization", "Swedish rock band from Eskilstuna")
    assert city and (city.type, city.description) == ("place", "town in Sweden")


def test_our_own_tables_add_titles_names_and_redirects(kb: KnowledgeBase) -> None:
    company = kb.entity("Spotify")
    assert company and (company.type, company.description) == ("organization", "Swedish music streaming company")
    assert [each.title for each in kb.candidates("Ibrahimović")] == ["Zlatan Ibrahimović"]
    assert kb.resolve("Gamla stan") == "Old Town (Stockholm)"
    assert kb.resolve("Stockholm") == "Stockholm"  # a city is no singer


def test_pages_are_in_the_link_graph(kb: KnowledgeBase) -> None:
    shared = set(kb.snapshot().pages("Stockholm").tolist()) & set(kb.snapshot().pages("Kent (band)").tolist())
    assert len(shared) == 2  # the table of bands, and AIDA's document


def test_kb_json_names_every_source(kb: KnowledgeBase) -> None:
    sources = {source.path: source for source in kb.info.sources}
    assert sources.keys() == {*(source.path for source in SOURCES), "train.jsonl"}
    assert all(source.license and source.url and source.entries for source in sources.values())
    assert sources["knowledge/titles.tsv.gz"].entries == 11


def test_the_report_counts_and_shows(folder: Path) -> None:
    report = json.loads((folder / "kb.report.json").read_text())
    assert report["left out: lists"]["count"] == 1
    assert "Senate of Nigeria → Senate (Nigeria)" in report["twins merged: parenthesis for of"]["samples"]
    assert "Senate of Nigeria → Senate (Nigeria)" in (folder / "kb.report.html").read_text()


def test_only_the_best_known_titles_are_kept(folder: Path) -> None:
    make(Data(folder / "data", recent=folder / "data" / "recent"), folder / "small", titles=7)
    small = KnowledgeBase.open(folder / "small")
    assert len(small) == 7 and {"Freddie Mercury", "Stockholm", "Spotify", "Old Town (Stockholm)"} <= set(
        small.titles()
    )


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    data = write_data(tmp_path / "data")
    (data / "knowledge" / "ids.tsv.gz").unlink()
    with pytest.raises(KnowledgeBaseError, match=r"ids\.tsv\.gz.*README"):
        make(Data(data), tmp_path / "kb")


def test_a_broken_line_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    data = write_data(tmp_path / "data")
    (data / "knowledge" / "names.tsv.gz").write_bytes(gzip.compress(b"Kent\tKent (band)\t3\tanchor\nKent\n"))
    with pytest.raises(DataFormatError, match=r"names\.tsv\.gz.*2.*1 columns, wanted 4"):
        make(Data(data), tmp_path / "kb")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_the_command(tmp_path: Path) -> None:
    write_data(tmp_path / "data")
    command = [sys.executable, "-m", "recipes.wikipedia", tmp_path / "data", "-o", tmp_path / "kb"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "titles" in done.stdout, done.stderr
    (tmp_path / "data" / "knowledge" / "ids.tsv.gz").unlink()
    failed = subprocess.run([*command, "--replace"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert failed.returncode == 1 and "ids.tsv.gz" in failed.stderr and "Traceback" not in failed.stderr


def test_twins_of_a_title_that_is_merged_later_follow_it() -> None:
    german, hyphen, other = "Union of Germany", "Union-of Germany", "Union (Germany)"
    lead = "The Union of Germany is a party ."
    pool = Pool({german: linked(5), hyphen: linked(), other: linked(9, kind="PoliticalParty")})
    tables = Tables([], {}, {}, [], {german: lead, other: lead}, frozenset(), {})
    clean(pool, Texts(), tables)
    assert set(pool.titles) == {other} and pool.now(hyphen) == other
