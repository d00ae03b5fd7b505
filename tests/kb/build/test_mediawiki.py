from __future__ import annotations

import bz2
from xml.sax.saxutils import escape

import pytest
from typer.testing import CliRunner

from parlink.cli.main import app
from parlink.data import parallel
from parlink.errors import DataFormatError
from parlink.kb import KnowledgeBase
from parlink.kb.build import mediawiki
from parlink.kb.build.build import BuildOptions, build
from parlink.kb.info import read_info
from tiny_kb import found

HEAD = """<mediawiki xml:lang="en"><siteinfo><namespaces><namespace key="0" />
<namespace key="10">Template</namespace></namespaces></siteinfo>
"""
PAGES = {
    "Elbe": "A river that passes [[Dresden]] and [[hamburg|the port]], see [[Category:Rivers]] and [[1842]].",
    "Hamburg": "A port on the [[Elbe|Elbe river]]; its club is the [[Hamburger SV|HSV]]. [[hamburg]]ers, and [[HSV]].",
    "HSV": "#REDIRECT [[Hamburger_SV]]",
    "HH": "#REDIRECT [[Hamburg#Name]]",
    "Kent": "'''Kent''' may be:\n* [[Kent (county)]], in [[England]]\n* [[Kent (band)|Kent]]\n[[Elbe]]\n{{disambig}}",
    "List of rivers": "* [[Elbe]]\n* [[Weser]]",
    "1842": "[[Hamburg]] burnt.",
    "Template:Rivers": "[[Oder]]",
    "Blank": "",
    "Tom & Jerry": "A cat and a mouse from [[Dresden|Florence on the Elbe]].",
}


def page(title: str, text: str) -> str:
    return f"<page><title>{escape(title)}</title><id>1</id><revision><text>{escape(text)}</text></revision></page>\n"


DUMP = HEAD + "".join(page(title, text) for title, text in PAGES.items()) + "</mediawiki>\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wiki")
    (folder / "dump.xml").write_text(DUMP)
    report = build([folder / "dump.xml"], folder / "kb")
    return KnowledgeBase.open(folder / "kb"), report


def test_titles_written_with_character_references(tmp_path):
    pages = {"Comics": "[[Li&#39;l Abner#Plot]], [[Tom &amp;amp; Jerry|cat]]", "Abner": "#REDIRECT [[Li&#39;l Abner]]"}
    (tmp_path / "a.xml").write_text(HEAD + "".join(page(*each) for each in pages.items()) + "</mediawiki>")
    (tmp_path / "r.json").write_text('{"Cat": "Tom & Jerry#Tom"}')
    build([tmp_path / "a.xml"], tmp_path / "kb", options=BuildOptions(redirects=tmp_path / "r.json"))
    kb = KnowledgeBase.open(tmp_path / "kb")
    assert sorted(kb.titles()) == ["Comics", "Li'l Abner", "Tom & Jerry"]
    assert (kb.resolve("Abner"), kb.resolve("Cat")) == ("Li'l Abner", "Tom & Jerry")


def test_pages_and_what_they_link_to_are_entities(built):
    kb, _ = built
    assert sorted(kb.titles()) == [
        "Dresden",
        "Elbe",
        "England",
        "Hamburg",
        "Hamburger SV",
        "Kent (band)",
        "Kent (county)",
        "Tom & Jerry",
        "Weser",
    ]


def test_what_was_skipped_is_told(built):
    _, report = built
    (source,) = report.info.sources
    assert source.entries == len(PAGES)
    assert source.skipped == {
        "redirect": 2,
        "disambiguation": 1,
        "list": 1,
        "date or number": 1,
        "namespace": 1,
        "empty": 1,
    }
    assert report.info.notes == {
        "titles known only from links, redirects and candidates": 6,
        "titles left out that texts link to (dates, numbers, lists, disambiguation)": 1,
    }


def test_anchors_count_as_names_and_redirects_as_aliases(built):
    kb, _ = built
    assert found(kb, "the port") == [("Hamburg", "exact")]
    assert found(kb, "Florence on the Elbe") == [("Dresden", "exact")]
    assert found(kb, "HSV") == [("Hamburger SV", "exact")]
    assert found(kb, "hh") == [("Hamburg", "folded")]
    assert kb.resolve("HH") == "Hamburg"
    assert kb.resolve("https://en.wikipedia.org/wiki/HSV") == "Hamburger SV"
    assert kb.entity("Hamburger SV").url == "https://en.wikipedia.org/wiki/Hamburger_SV"
    assert kb.entity("Tom & Jerry").url == "https://en.wikipedia.org/wiki/Tom_%26_Jerry"


def test_a_disambiguation_page_says_what_its_title_may_mean(built):
    kb, _ = built
    assert [title for title, _ in found(kb, "Kent")] == ["Kent (band)", "Kent (county)"]
    band, county = (0.3 * (seen + 0.5) ** 0.6 for seen in (2, 1))
    assert kb.candidates("Kent")[0].prior == pytest.approx((1 + band) / (1 + band + 0.01 + county), rel=1e-3)


def test_ids_may_be_spelled_as_in_urls(tmp_path):
    (tmp_path / "dump.xml").write_text(DUMP)
    (tmp_path / "ids.tsv").write_text("hamburger_SV\tQ51974\nHH\tQ1055\n")
    report = build([tmp_path / "dump.xml"], tmp_path / "kb", options=BuildOptions(ids=[tmp_path / "ids.tsv"]))
    kb = KnowledgeBase.open(tmp_path / "kb")
    assert kb.resolve("Q51974") == "Hamburger SV"
    assert kb.resolve("Q1055") == "Hamburg"  # through the redirect
    assert [(source.kind, source.entries) for source in report.info.sources][1] == ("ids", 2)


def test_a_dump_gives_the_page_ids_of_its_articles(tmp_path):
    pages = {"Hamburg": (7, "A port."), "HH": (8, "#REDIRECT [[Hamburg]]"), "Template:Port": (9, "A port.")}
    text = "".join(page(title, text).replace("<id>1<", f"<id>{number}<") for title, (number, text) in pages.items())
    (tmp_path / "dump.xml").write_text(HEAD + text + "</mediawiki>")
    (tmp_path / "more.tsv").write_text("Elbe\t71\n")
    (tmp_path / "a.txt").write_text("Elbe\n")
    files = [tmp_path / "dump.xml", tmp_path / "more.tsv"]
    build([tmp_path / "dump.xml", tmp_path / "a.txt"], tmp_path / "kb", options=BuildOptions(ids=files))
    kb = KnowledgeBase.open(tmp_path / "kb")
    assert kb.entity("Hamburg").id == "7"
    assert kb.entity("Elbe").id == "71"
    assert kb.resolve("8") is None


def test_only_pages_if_so_asked(tmp_path):
    (tmp_path / "dump.xml").write_text(DUMP)
    build([tmp_path / "dump.xml"], tmp_path / "kb", options=BuildOptions(min_links=None))
    assert sorted(KnowledgeBase.open(tmp_path / "kb").titles()) == ["Elbe", "Hamburg", "Tom & Jerry"]


@pytest.mark.parametrize("cut", [DUMP.index("<title>Template"), DUMP.index("burnt")])
def test_a_dump_that_is_cut_off_in_a_page_gives_what_comes_before(tmp_path, cut):
    (tmp_path / "dump.xml.bz2").write_bytes(bz2.compress(DUMP[:cut].encode()))
    report = build([tmp_path / "dump.xml.bz2"], tmp_path / "kb")
    assert report.info.sources[0].entries in (6, 7)
    assert "Weser" in KnowledgeBase.open(tmp_path / "kb")
    (warning,) = report.info.sources[0].warnings
    assert "cut off" in warning
    assert read_info(tmp_path / "kb").sources[0].warnings == (warning,)


def test_a_damaged_dump_is_an_error_and_nothing_is_written(tmp_path):
    whole = bytearray(bz2.compress(DUMP.encode()) + bz2.compress(b"more"))
    whole[-20] ^= 0xFF
    (tmp_path / "dump.xml.bz2").write_bytes(whole)
    result = CliRunner().invoke(app, ["kb", "build", str(tmp_path / "dump.xml.bz2"), "-o", str(tmp_path / "kb")])
    assert isinstance(result.exception, DataFormatError)
    assert [path.name for path in tmp_path.iterdir()] == ["dump.xml.bz2"]


def test_all_cores_make_the_same_knowledge_base(tmp_path, built, monkeypatch):
    kb, _ = built
    (tmp_path / "dump.xml").write_text(DUMP)
    monkeypatch.setattr(parallel, "SMALL_FILE", 0)
    monkeypatch.setattr(mediawiki, "CHUNK_BYTES", 200)
    build([tmp_path / "dump.xml"], tmp_path / "kb", options=BuildOptions(processes=2))
    again = KnowledgeBase.open(tmp_path / "kb")
    assert again.info.hash == kb.info.hash
    assert again.info.sources[0] == kb.info.sources[0]


def test_a_younger_dump_decides_what_is_a_page_and_what_a_redirect(tmp_path):
    old, young = tmp_path / "old.xml", tmp_path / "young.xml"
    old.write_text(HEAD + page("Constantinople", "A city on the [[Bosporus]].") + page("Rail", "#REDIRECT [[Train]]"))
    young.write_text(HEAD + page("Constantinople", "#REDIRECT [[Istanbul]]") + page("Rail", "A bird, or a bar."))
    build([old, young], tmp_path / "kb")
    kb = KnowledgeBase.open(tmp_path / "kb")
    assert sorted(kb.titles()) == ["Bosporus", "Istanbul", "Rail", "Train"]
    assert kb.resolve("Constantinople") == "Istanbul"
    assert kb.resolve("Rail") == "Rail"
    assert {title for title, _ in found(kb, "Rail")} == {"Rail", "Train"}
