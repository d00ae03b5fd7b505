"""The link graph: pages of a title, at most k, chosen so that samples overlap as the whole lists do."""

from __future__ import annotations

import json

import marisa_trie
from hypothesis import given
from hypothesis import strategies as st

from parlink.kb.build.build import BuildOptions, build
from parlink.kb.link_graph import LINKS_FILE, LinkGraph
from parlink.kb.tables import Tables
from tiny_kb import write_lines

TITLES = [f"T{n}" for n in range(6)]


def pages_of(folder):
    """The pages of each title, and how many titles each page links to."""
    titles = marisa_trie.Trie().mmap(str(folder / "titles.marisa"))
    graph = LinkGraph.open(folder / LINKS_FILE, len(titles))
    return {title: graph.pages(titles[title]).tolist() for title in titles}, graph.page_links


@given(
    links=st.lists(st.tuples(st.sampled_from(TITLES), st.lists(st.sampled_from(TITLES))), min_size=1, max_size=12),
    limit=st.integers(1, 4),
)
def test_the_graph_is_that_of_the_links(links, limit, tmp_path_factory):
    folder = tmp_path_factory.mktemp("graph")
    write_lines(folder / "a.jsonl", [{"title": title} for title in TITLES])
    write_lines(folder / "links.jsonl", [{"title": page, "links": targets} for page, targets in links])
    whole = BuildOptions(links=[folder / "links.jsonl"], replace=True)
    expected = {title: {page for page, targets in links if title in (page, *targets)} for title in TITLES}
    build([folder / "a.jsonl"], folder / "kb", options=whole)
    pages, sizes = pages_of(folder / "kb")
    assert {title: len(each) for title, each in pages.items()} == {title: len(each) for title, each in expected.items()}
    for one in TITLES:
        for other in TITLES:
            assert len(set(pages[one]) & set(pages[other])) == len(expected[one] & expected[other])
    assert sizes.tolist() == [sum(page in each for each in pages.values()) for page in range(len(sizes))]
    build([folder / "a.jsonl"], folder / "kb", options=BuildOptions(**{**vars(whole), "pages_a_title": limit}))
    sampled, sizes_again = pages_of(folder / "kb")
    assert sampled == {title: sorted(each)[:limit] for title, each in pages.items()}
    assert sizes_again.tolist() == sizes.tolist()


def test_pages_come_from_dumps_articles_documents_and_own_data(tmp_path):
    document = {"text": "Aa Bb", "links": [{"start": 0, "end": 2, "title": "A"}, {"start": 3, "end": 5, "title": "B"}]}
    article = {"title": "C", "paragraphs": [{"text": "Aa.", "links": [[0, 2, "A"]]}]}
    entity = {"title": "D", "links": ["B", "Elsewhere"]}
    write_lines(tmp_path / "a.jsonl", [document, article, entity])
    (tmp_path / "b.csv").write_text("title,links\nE,A|D\n")
    (tmp_path / "c.xml").write_text(
        "<mediawiki><page><title>F</title><revision><text>[[A]] [[redirect]]</text></revision></page>"
        "<page><title>Redirect</title><revision><text>#REDIRECT [[B]]</text></revision></page></mediawiki>"
    )
    build([tmp_path / name for name in ("a.jsonl", "b.csv", "c.xml")], tmp_path / "kb")
    pages, sizes = pages_of(tmp_path / "kb")
    assert {title: len(each) for title, each in pages.items()} == {"A": 4, "B": 3, "C": 1, "D": 2, "E": 1, "F": 1}
    assert sorted(sizes.tolist()) == [2, 2, 2, 3, 3]
    assert set(pages["F"]) <= set(pages["A"]) & set(pages["B"])  # through the redirect


def test_no_graph_without_links_or_where_none_is_wanted(tmp_path):
    write_lines(tmp_path / "a.jsonl", [{"title": "A"}, {"title": "B", "links": ["A"]}])
    build([tmp_path / "a.jsonl"], tmp_path / "kb", options=BuildOptions(pages_a_title=0))
    assert not (tmp_path / "kb" / LINKS_FILE).exists()
    (tmp_path / "b.txt").write_text("A\n")
    build([tmp_path / "b.txt"], tmp_path / "kb", options=BuildOptions(replace=True))
    assert not (tmp_path / "kb" / LINKS_FILE).exists()


def test_a_folder_with_a_graph_is_opened_by_tables(tmp_path):
    write_lines(tmp_path / "a.jsonl", [{"title": "A"}, {"title": "B", "links": ["A"]}])
    info = build([tmp_path / "a.jsonl"], tmp_path / "kb").info
    assert LINKS_FILE in info.files
    assert len(Tables.open(tmp_path / "kb")) == 2
    assert json.loads((tmp_path / "kb" / "kb.json").read_bytes())["files"][LINKS_FILE]["size"] > 0
