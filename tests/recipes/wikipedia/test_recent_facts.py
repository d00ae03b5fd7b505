from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from parlink.errors import DataFormatError
from recipes.wikipedia.evidence import Mark
from recipes.wikipedia.kinds.decide import Kind
from recipes.wikipedia.pool import Pool
from recipes.wikipedia.recent_facts import (
    Recent,
    Row,
    mark_recent,
    read_recent,
    rename,
    tell_kinds,
    weigh_aliases,
)
from recipes.wikipedia.sources import OWN_TABLES, RECENT_NAMES, Data
from tiny_data import linked

UNTOLD = Kind(None, None)
SINGER = Row("person", "singer", ("Jordan", "Mike", "Michael B. Jordan"), 300)


def test_our_tables_can_be_read() -> None:
    recent = read_recent(Data(OWN_TABLES))
    assert len(recent.rows) > 5000 and len(recent.renamed) > 700
    assert recent.renamed.keys().isdisjoint(recent.rows)


def test_a_row_of_a_former_title_is_one_of_the_title_of_now(tmp_path: Path) -> None:
    _write(tmp_path, things="Kiev\tplace\tcapital of Ukraine\tKiyv | Kijev\t4\n", renamed="Kiev\tKyjiv\nKyjiv\tKyiv\n")
    assert read_recent(Data(tmp_path, recent=tmp_path)).rows == {
        "Kyiv": Row("place", "capital of Ukraine", ("Kiyv", "Kijev"), 100)
    }


@pytest.mark.parametrize("row", ["A\tcity\tx\t\t3\n", "A\tplace\tx\t\t6\n", f"A\tplace\t{'x' * 101}\t\t\n"])
def test_a_row_that_is_wrong_is_named(tmp_path: Path, row: str) -> None:
    _write(tmp_path, people=f"B\tperson\ty\t\t\n{row}")
    with pytest.raises(DataFormatError, match=r"people\.tsv.*2.*fame"):
        read_recent(Data(tmp_path, recent=tmp_path))


def test_former_titles_lead_to_those_of_now_unless_they_are_two() -> None:
    pool = Pool({"Kiev": linked(9), "Band": linked(kind="Band"), "Lake": linked(kind="Lake"), "Q": linked(1)})
    pool.moved["Kyiv"] = "Kiev"
    rename(pool, Recent({}, {"Kiev": "Kyiv", "Band": "Lake", "Q": "Lake"}), ids={}, leads={"Q": "Q is a lake ."})
    pool.merge_moved("redirects followed")
    assert set(pool.titles) == {"Kyiv", "Band", "Lake"} and pool.titles["Kyiv"].text_links == 9
    assert pool.report.counts["renamed, but two entities"] == 1
    rename(pool, Recent({}, {"Kyiv": "Lake"}), ids={"Kyiv": "Q1", "Lake": "Q2"}, leads={})
    assert pool.report.counts["renamed, but two entities"] == 2


def test_our_titles_stay_and_are_as_well_known_as_we_say() -> None:
    pool = Pool({"Michael Jordan": linked(2, kind="Band"), "Mike Jordan": linked(9)})
    recent = Recent({"Michael Jordan": SINGER})
    mark_recent(pool, recent)
    pool.merge("Michael Jordan", "Mike Jordan", "twins")
    assert pool.now("Mike Jordan") == "Michael Jordan" and pool.titles["Michael Jordan"].popularity == 300
    assert tell_kinds(pool, recent, dict.fromkeys(pool.titles, UNTOLD))["Michael Jordan"].type == "person"
    assert not pool.titles["Michael Jordan"].kind  # a person is no band
    pool.evidence("Other").marks |= Mark.OURS
    pool.merge("Michael Jordan", "Other", "twins")
    assert {"Michael Jordan", "Other"} <= set(pool.titles)


def test_a_row_for_names_tells_what_no_source_tells_and_may_be_a_redirect(tmp_path: Path) -> None:
    rows = "Kent\tplace\ta county\tGarden of England\t2\nBath\tplace\ta city\t\t1\n"
    _write(tmp_path, teams=rows, people="Bath\tperson\ta poet\tThe Bath\t\n")
    recent = read_recent(Data(tmp_path, recent=tmp_path))
    assert recent.rows["Bath"] == Row("person", "a poet", ("The Bath",), 3)
    told = {"County of Kent": Kind("other", "county in the south-east"), "Bath": Kind("place", "spa")}
    pool = Pool({"County of Kent": linked(4), "Bath": linked(1)}, moved={"Kent": "County of Kent", "Bath": "Spa"})
    mark_recent(pool, recent)
    rename(pool, recent, ids={}, leads={})
    pool.merge_moved("redirects followed")
    assert set(pool.titles) == {"County of Kent", "Bath"}
    assert tell_kinds(pool, recent, told) == {
        "County of Kent": Kind("place", "county in the south-east"),
        "Bath": Kind("person", "a poet"),
    }
    assert ("Garden of England", "County of Kent", 10) in list(weigh_aliases(pool, recent, {}))


def test_a_bare_name_is_worth_less_and_stays_with_what_texts_link() -> None:
    pool = Pool({"Michael Jordan": linked(), "Jordan": linked(200)})
    links = Counter({("Jordan", "Jordan"): 200, ("Mike", "Jordan"): 3})
    worth = {name: links for name, _, links in weigh_aliases(pool, Recent({"Michael Jordan": SINGER}), links)}
    assert worth == {"Michael Jordan": 300, "Jordan": 100, "Mike": 120, "Michael B. Jordan": 300}
    games = {f"Euro {year}": Row("event", "games", ("Euro", "EM"), 100) for year in (1980, 1984, 1988)}
    recent = Recent(games | {"European Championship": Row("event", "games", ("EM",), 100)})
    pool = Pool({title: linked() for title in recent.rows})
    worth = {(name, title): links for name, title, links in weigh_aliases(pool, recent, {})}
    assert worth["Euro 1984", "Euro 1984"] == 100 and worth["Euro", "Euro 1984"] == worth["EM", "Euro 1988"] == 3
    assert worth["EM", "European Championship"] == 40


def _write(folder: Path, **tables: str) -> None:
    for name in (*RECENT_NAMES, "renamed"):
        (folder / f"{name}.tsv").write_text(tables.get(name, ""))
