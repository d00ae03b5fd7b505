"""Sources that users have: Wikidata, the tables of a wiki, Parquet. Samples of ours in the true shape."""

from __future__ import annotations

import bz2
import gzip
import json

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from parlink.errors import DataFormatError
from parlink.kb import KnowledgeBase
from parlink.kb.build import sql
from parlink.kb.build.build import BuildOptions, build
from parlink.kb.build.entity_types import type_of
from parlink.kb.build.gather import Gathering
from parlink.kb.build.merge import Notes, Rules, entities
from parlink.kb.build.sources import ReadOptions, kind_of, read
from parlink.kb.tables import TYPES
from tiny_kb import found


def known(folder, *paths, **options):
    """The entities that sources give, by title."""
    (folder / "work").mkdir()
    gathering = Gathering(folder / "work")
    options = ReadOptions(page_numbers=True, **options)
    for number, path in enumerate(paths):
        part = gathering.open_part(number)
        for batch in read(path, kind=kind_of(path), source=number, options=options):
            part.take(batch)
    gathering.resolve_page_numbers()
    return {entity.title: entity for entity in entities(gathering.by_title_of_now(), Rules(wiki=True), Notes())}


def snak(number: str, rank: str = "normal"):
    value = {"value": {"entity-type": "item", "numeric-id": int(number[1:]), "id": number}, "type": "wikibase-entityid"}
    main = {"snaktype": "value", "property": "P31", "datavalue": value, "datatype": "wikibase-item"}
    return {"mainsnak": main, "type": "statement", "id": f"{number}$1", "rank": rank}


def text(value: str, language: str = "en"):
    return {"language": language, "value": value}


def item(number: str, *, label=None, alias=(), description=None, page=None, classes=(), **more):
    return {
        "type": "item",
        "id": number,
        "labels": {"en": text(label), "de": text(f"{label} (de)", "de")} if label else [],
        "descriptions": {"en": text(description)} if description else [],
        "aliases": {"en": [text(each) for each in alias]} if alias else [],
        "claims": {"P31": [snak(each) for each in classes]} if classes else [],
        "sitelinks": {"enwiki": {"site": "enwiki", "title": page, "badges": []}} if page else [],
        "lastrevid": 1,
        **more,
    }


ITEMS = [
    item("Q1055", label="Hamburg", alias=["HH"], description="city in Germany", page="Hamburg", classes=["Q1549591"]),
    item("Q1", label="Kent", description="Swedish band", page="Kent (band)", classes=["Q999999999", "Q215380"]),
    item("Q2", label="Kent", description="a ship", classes=["Q11446"]),
    item("Q3", label="Kent", page="Kent", classes=["Q4167410"]),
    item("Q4", label=None),
    item("Q5", label="Jo Ode", claims={"P31": [{"mainsnak": {"snaktype": "somevalue"}, "rank": "normal"}, snak("Q5")]}),
    {**item("P31", label="instance of"), "type": "property"},
]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_wikidata(tmp_path, pack):
    path = tmp_path / {bytes: "w.json", gzip.compress: "w.json.gz", bz2.compress: "w.json.bz2"}[pack]
    lines = ",\n".join(json.dumps(each) for each in ITEMS)
    path.write_bytes(pack(f"[\n{lines}\n]\n".encode()))
    entities = known(tmp_path, path)
    assert {title: (each.id, each.type, each.description) for title, each in entities.items()} == {
        "Hamburg": ("Q1055", "place", "city in Germany"),
        "Kent (band)": ("Q1", "organization", "Swedish band"),
        "Jo Ode": ("Q5", "person", ""),
    }  # Q2 and the disambiguation page Q3 have the same title
    assert set(entities["Kent (band)"].counts) == {"Kent (band)", "Kent"}
    assert "HH" in entities["Hamburg"].counts


def test_wikidata_in_another_language(tmp_path):
    path = tmp_path / "w.json"
    path.write_text("[\n" + ",\n".join(map(json.dumps, ITEMS[:3])) + "\n]\n")
    assert sorted(known(tmp_path, path, language="de")) == ["Hamburg (de)", "Kent (de)", "Kent (de) (Q2)"]


PAGE_COLUMNS = "page_id page_namespace page_title page_is_redirect page_len"


def dump_table(name: str, columns: str, rows: list[str]) -> str:
    fields = "".join(f"  `{column}` varbinary(255) NOT NULL DEFAULT '',\n" for column in columns.split())
    return f"""-- MariaDB dump 10.19
/*!40101 SET NAMES binary */;
DROP TABLE IF EXISTS `{name}`;
CREATE TABLE `{name}` (
{fields}  PRIMARY KEY (`{columns.split()[0]}`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

/*!40000 ALTER TABLE `{name}` DISABLE KEYS */;
INSERT INTO `{name}` VALUES {",".join(rows[:2])};
INSERT INTO `{name}` VALUES {",".join(rows[2:])};
/*!40000 ALTER TABLE `{name}` ENABLE KEYS */;
"""


PAGES = ["(1,0,'Hamburg',0,9)", "(2,0,'HH',1,9)", "(3,0,'Lloyd\\'s_\\\"London\\\"',0,9)", "(4,0,'Kent',0,9)"]
PAGES += ["(5,10,'Stub',0,9)", "(6,0,'List_of_ports',0,9)", "(7,0,'Old',1,9)"]
PROPERTIES = ["(1,'wikibase_item','Q1055',NULL)", "(1,'wikibase-shortdesc','City (in) Germany; a, port',NULL)"]
PROPERTIES += ["(4,'disambiguation','',NULL)", "(4,'wikibase_item','Q9',NULL)", "(99,'wikibase_item','Q99',1.5)"]
PROPERTIES += ["(3,'wikibase_item','Q333',-2e-05)", "(1,'page_image_free','x.png',NULL)"]
REDIRECTS = ["(2,0,'Hamburg','','Name')", "(7,0,'Elsewhere','de','')", "(8,4,'Hamburg','','')"]


@pytest.fixture
def wiki(tmp_path):
    (tmp_path / "page.sql.gz").write_bytes(gzip.compress(dump_table("page", PAGE_COLUMNS, PAGES).encode()))
    properties = dump_table("page_props", "pp_page pp_propname pp_value pp_sortkey", PROPERTIES)
    (tmp_path / "page_props.sql.gz").write_bytes(gzip.compress(properties.encode()))
    redirects = dump_table("redirect", "rd_from rd_namespace rd_title rd_interwiki rd_fragment", REDIRECTS)
    (tmp_path / "redirect.sql").write_text(redirects)
    return tmp_path


def test_the_tables_of_a_wiki(wiki):
    build([wiki / name for name in ("page_props.sql.gz", "redirect.sql", "page.sql.gz")], wiki / "kb")
    kb = KnowledgeBase.open(wiki / "kb")
    assert sorted(kb.titles()) == ["Hamburg", 'Lloyd\'s "London"']
    assert kb.entity("Hamburg").id == "Q1055"
    assert kb.entity("Hamburg").description == "City (in) Germany; a, port"
    assert kb.entity('Lloyd\'s "London"').id == "Q333"
    assert kb.resolve("HH") == "Hamburg"
    assert kb.info.url_template == "https://en.wikipedia.org/wiki/{title}"


def test_an_xml_dump_knows_the_numbers_of_its_pages(wiki):
    pages = {1: ("Hamburg", "A port near [[Kent]]."), 2: ("HH", "#REDIRECT [[Hamburg]]"), 4: ("Kent", "[[Hamburg]]")}
    xml = "".join(
        f"<page><title>{title}</title><ns>0</ns><id>{number}</id><revision><text>{text}</text></revision></page>"
        for number, (title, text) in pages.items()
    )
    (wiki / "dump.xml").write_text(f"<mediawiki>{xml}</mediawiki>")
    build([wiki / "dump.xml", wiki / "page_props.sql.gz"], wiki / "kb")
    kb = KnowledgeBase.open(wiki / "kb")
    assert list(kb.titles()) == ["Hamburg"]  # the wiki itself says that Kent is a disambiguation page
    assert kb.entity("Hamburg").id == "Q1055"


@given(rows=st.lists(st.tuples(st.integers(0, 10**9), st.text()), min_size=1, max_size=4))
def test_any_text_comes_back_from_mysql_s_quotes(rows, tmp_path_factory):
    def quote(value):
        for plain, escaped in {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\0": "\\0", "\x1a": "\\Z"}.items():
            value = value.replace(plain, escaped)
        return f"'{value}'"

    path = tmp_path_factory.mktemp("sql") / "redirect.sql"
    inserted = ",".join(f"({number},{quote(value)})" for number, value in rows)
    path.write_bytes(
        f"CREATE TABLE `redirect` (\n`a` int,\n`b` text\n);\nINSERT INTO `redirect` VALUES {inserted};\n".encode()
    )
    assert [(int(cells["a"]), cells["b"]) for _, cells in sql.rows(path)] == rows


@pytest.mark.parametrize("tail", ["(1,'x", "(1,'x')", "('", "((((", "(1,'" + "\\'" * 1000, "(" + "1," * 5000])
def test_hostile_statements_are_errors(tmp_path, tail):
    path = tmp_path / "page.sql"
    path.write_text(f"CREATE TABLE `page` (\n`a` int,\n`b` text\n);\nINSERT INTO `page` VALUES {tail}\n")
    with pytest.raises(DataFormatError, match=r"page\.sql:5: wanted a row of 2 values"):
        list(sql.rows(path))


@pytest.mark.parametrize("lists", [True, False])
def test_parquet(tmp_path, lists):
    rows = {
        "name": ["Hamburg", "Kent"],
        "id": ["Q1055", None],
        "count": [40, None],
        "type": ["city", "thing unheard of"],
        "aliases": [["HH", "Hansestadt"], None] if lists else ["HH|Hansestadt", ""],
        "color": ["red", "blue"],
    }
    parquet.write_table(pyarrow.table(rows), tmp_path / "a.parquet")
    with pytest.raises(DataFormatError, match="column 'color' is unknown"):
        build([tmp_path / "a.parquet"], tmp_path / "kb")
    report = build([tmp_path / "a.parquet"], tmp_path / "kb", options=BuildOptions(ignored=["color"]))
    kb = KnowledgeBase.open(tmp_path / "kb")
    assert kb.entity("Hamburg").id == "Q1055"
    assert found(kb, "HH") == [("Hamburg", "exact")]
    assert report.info.notes['types that are none of ours, taken as "other"'] == 1


def test_a_table_of_names_aliases_descriptions_and_ids_works_out_of_the_box(tmp_path):
    (tmp_path / "a.csv").write_text("name,aliases,description,id,type\nJo Ode,Ode|J. Ode,head of sales,7,person\n")
    build([tmp_path / "a.csv"], tmp_path / "kb")
    assert [found(KnowledgeBase.open(tmp_path / "kb"), name) for name in ("Ode", "J. Ode")] == [
        [("Jo Ode", "exact")]
    ] * 2
    assert known(tmp_path, tmp_path / "a.csv")["Jo Ode"].type == "person"


@given(st.text())
def test_a_type_is_one_of_eight(written):
    assert type_of(written) in TYPES


@pytest.mark.parametrize(
    ("written", "kind"), [("GPE", "place"), ("Q5", "person"), (" Work of Art", "work"), ("?", "other")]
)
def test_types_that_others_write(written, kind):
    assert type_of(written) == kind
