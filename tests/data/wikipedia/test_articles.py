"""Training documents from Wikipedia: a dump, Wikipedia for Schools, and repeated mentions."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from parlink.cli.data import app
from parlink.data import jsonl
from parlink.data.parallel import batches, in_processes, map_in_order
from parlink.data.wikipedia import articles as wikipedia
from parlink.data.wikipedia import mediawiki, schools
from parlink.data.wikipedia.repeats import mark_repeats
from parlink.errors import DataFormatError
from parlink.types import Document, Link, Span

PAGES = {
    "Elbe": "The '''Elbe''' is a [[river]] from [[Bohemia (land)|Bohemia]] to [[Cuxhaven]]. In [[1908]] the Elbe froze;"
    " see [[Mercury]]. Bohemia wept.\n[[de:Elbe]]",
    "Bohemia (land)": "#REDIRECT [[Bohemia]]",
    "Mercury": "* [[Mercury (planet)]]\n{{disambig}}",
    "1908": "A year in [[Europe]].",
    "Template:Box": "[[River]]",
    "Bohemia": "A land of [[Elbe|its river]].",
}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "dump.xml.gz"
    head = '<mediawiki><siteinfo><namespace key="10">Template</namespace></siteinfo>'
    pages = (f"<page><title>{title}</title><text>{escape(text)}</text></page>" for title, text in PAGES.items())
    path.write_bytes(gzip.compress((head + "".join(pages) + "<page><title>cut").encode()))
    return path


def surfaces(doc: Document) -> list[tuple[str, str | None]]:
    return [(doc.text[link.span.start : link.span.end], link.title) for link in doc.links]


def test_articles_become_documents(dump: Path) -> None:
    counts: Counter[str] = Counter()
    known = wikipedia.survey(mediawiki.pages(dump))
    assert known == wikipedia.Survey({"Bohemia (land)": "Bohemia"}, frozenset({"Mercury"}))
    elbe, bohemia = wikipedia.read(dump, known=known, counts=counts)
    assert elbe.id == "Elbe"
    assert elbe.text == (
        "The Elbe is a river from Bohemia to Cuxhaven. In 1908 the Elbe froze; see Mercury. Bohemia wept."
    )
    assert surfaces(elbe) == [("river", "River"), ("Bohemia", "Bohemia"), ("Cuxhaven", "Cuxhaven")]
    assert surfaces(bohemia) == [("its river", "Elbe")]
    assert counts == {
        "documents": 2,
        "links": 4,
        "links dropped: date or number": 1,
        "links dropped: disambiguation": 1,
        "pages skipped: redirect": 1,
        "pages skipped: disambiguation": 1,
        "pages skipped: date or number": 1,
        "pages skipped: namespace": 1,
    }


def test_titles_go_through_the_kb_and_unknown_ones_stay(dump: Path) -> None:
    counts: Counter[str] = Counter()
    kb = {"River": "River (water)", "Bohemia": "Bohemia", "Elbe": "Elbe"}.get
    elbe, _ = wikipedia.read(dump, known=wikipedia.Survey(), resolve=kb, counts=counts)
    assert [title for _, title in surfaces(elbe)] == ["River (water)", "Bohemia (land)", "Cuxhaven", "Mercury"]
    assert counts["links not in the KB"] == 3


def test_processes_change_nothing(dump: Path) -> None:
    known = wikipedia.survey(mediawiki.pages(dump))
    alone = list(wikipedia.read(dump, known=known))
    assert list(wikipedia.read(dump, known=known, engine=in_processes(2))) == alone


def test_command(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    result = CliRunner().invoke(app, ["wikipedia", str(dump), "-o", str(out), "--repeats", "--processes", "1"])
    assert result.exit_code == 0, result.output
    assert "documents: 2" in result.output
    elbe, _ = jsonl.read(out)
    assert surfaces(elbe) == [
        ("Elbe", "Elbe"),
        ("river", "River"),
        ("Bohemia", "Bohemia"),
        ("Cuxhaven", "Cuxhaven"),
        ("Elbe", "Elbe"),
        ("Bohemia", "Bohemia"),
    ]


ARTICLE = {
    "title": "Voss",
    "paragraphs": [
        {"text": "Voss lies in Norway.", "links": [[13, 19, "Norway"]], "deleted_link_starts": [5]},
        {"text": "In 1908 it rained.", "links": [[3, 7, "1908"]], "deleted_link_starts": [11, 14]},
    ],
}


def test_schools(tmp_path: Path) -> None:
    path = tmp_path / "schools.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(ARTICLE).encode()))
    counts: Counter[str] = Counter()
    (doc,) = schools.read(path, counts=counts)
    assert doc.text == "Voss lies in Norway.\nIn 1908 it rained."
    assert surfaces(doc) == [("Norway", "Norway")]
    assert [doc.text[start:].split()[0] for start in doc.extra["deleted_link_starts"]] == ["lies", "rained.", "ned."]
    assert counts["links dropped: date or number"] == 1
    result = CliRunner().invoke(app, ["wikipedia", str(path), "-o", str(tmp_path / "out.jsonl")])
    assert result.exit_code == 0, result.output
    assert list(jsonl.read(tmp_path / "out.jsonl")) == [doc]


@pytest.mark.parametrize("line", ["{}", "[", '{"title": "a", "paragraphs": [{"text": "b", "links": [[0, 2, "c"]]}]}'])
def test_broken_schools(tmp_path: Path, line: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(ARTICLE) + "\n" + line)
    with pytest.raises(DataFormatError, match=r"s\.jsonl:2: "):
        list(schools.read(path))


def test_repeats_are_whole_words_outside_links_and_unambiguous() -> None:
    text = "New York and York: York, Yorkshire, New York City, york. Paris or Paris"
    links = (
        Link(Span(0, 8), "New York"),
        Link(Span(13, 17), "York"),
        Link(Span(57, 62), "Paris"),
        Link(Span(66, 71), "P."),
    )
    doc = mark_repeats(Document(text, links=links))
    added = [link for link in doc.links if link not in links]
    assert [(link.span, link.title) for link in added] == [(Span(19, 23), "York"), (Span(36, 44), "New York")]
    assert all(link.extra == {"added": "repeat"} for link in added)


@given(st.lists(st.sampled_from(["Ab", "Ab cd", "cd", "x", "Abcd", "é"]), min_size=1, max_size=12), st.data())
def test_repeats_keep_links_and_never_overlap(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word) + 1)
    chosen = sorted(data.draw(st.sets(st.integers(0, len(words) - 1), max_size=3)))
    links = tuple(Link(Span(starts[n], starts[n + 1] - 1), f"T {words[n]}") for n in chosen)
    doc = mark_repeats(Document(text, links=links), page_title="Ab (x)")
    assert set(map(id, links)) <= set(map(id, doc.links))
    assert all(a.span.end <= b.span.start for a, b in zip(doc.links, doc.links[1:], strict=False))
    surfaces = {text[link.span.start : link.span.end] for link in links} | {"Ab"}
    assert all(text[link.span.start : link.span.end] in surfaces for link in doc.links)


@given(st.lists(st.integers(), max_size=20), st.integers(1, 5))
def test_batches(items: list[int], size: int) -> None:
    cut = list(batches(items, size))
    assert [item for batch in cut for item in batch] == items
    assert all(len(batch) == size for batch in cut[:-1])


def test_mapped_keeps_the_order_and_passes_errors_on() -> None:
    assert list(map_in_order(abs, range(-20, 0), processes=2)) == list(range(20, 0, -1))
    with pytest.raises(TypeError):
        list(map_in_order(len, [1, 2], processes=2))
