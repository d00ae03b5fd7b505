"""Identifiers: what they are, and what becomes of those that the knowledge base does not know."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlink.data.identifiers import Target, is_nil, page_title, page_url, qid, target
from parlink.data.titles import plain_title, url_title


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_title_survives_its_url(title: str) -> None:
    assert plain_title(url_title(title)) == title
    assert not title or page_title(page_url(title)) == title
    assert url_title(title).isascii()
    assert not set(url_title(title)) & set(' <>"{}|^`\\')


@pytest.mark.parametrize(
    ("identifier", "title", "number"),
    [
        ("http://en.wikipedia.org/wiki/Kent_(band)", "Kent (band)", None),
        ("https://en.m.wikipedia.org/wiki/Caf%C3%A9#Menu", "Café", None),
        ("http://en.wikipedia.org/w/index.php?title=What_If%3F", "What If?", None),
        ("http://dbpedia.org/resource/AC/DC", "AC/DC", None),
        ("http://de.dbpedia.org/page/Köln", "Köln", None),
        ("http://www.wikidata.org/entity/Q42", None, "Q42"),
        ("https://www.wikidata.org/wiki/Q42", None, "Q42"),
        ("wd:Q42", None, "Q42"),
        ("Q42", None, "Q42"),
        ("Q42x", None, None),
        ("Kent", None, None),
        ("http://example.org/wiki/Kent", None, None),
    ],
)
def test_kinds(identifier: str, title: str | None, number: str | None) -> None:
    assert page_title(identifier) == title
    assert qid(identifier) == number


NONE = "http://a.org/notInWiki/X https://b.org/unknown_entity/7 --NME-- NIL <NIL> <unk_wid> <unk> <UNK> Unknown12"


@pytest.mark.parametrize(("identifiers", "nil"), [(NONE, True), ("Unknown Unknown7b NILS unk Kent Q42", False)])
def test_what_datasets_write_for_no_entity_is_nil(identifiers: str, nil: bool) -> None:
    assert {identifier: is_nil(identifier) for identifier in identifiers.split()} == dict.fromkeys(
        identifiers.split(), nil
    )


KNOWN = {"Q1": "Kent", "Maidstone (town)": "Maidstone", "http://shop.example/9": "Kettle", "Kent": "Kent"}.get
PAGE = "http://en.wikipedia.org/wiki/"


@pytest.mark.parametrize(
    ("identifiers", "name", "with_kb", "without"),
    [
        (["Q1"], "County", Target("Kent", "Q1"), Target("County", "Q1")),
        (["Q2"], "Kent", Target("Kent", "Q2"), Target("Kent", "Q2")),
        (["Q2"], "Else", Target("Q2", "Q2"), Target("Else", "Q2")),
        (["Q2"], None, Target("Q2"), Target("Q2")),
        ([PAGE + "Maidstone_(town)"], None, Target("Maidstone"), Target("Maidstone (town)")),
        ([PAGE + "Nowhere"], None, Target("Nowhere"), Target("Nowhere")),
        ([PAGE + "Nowhere", "Q1"], None, Target("Kent", "Q1"), Target("Nowhere", "Q1")),
        (["http://shop.example/9"], None, Target("Kettle", None, "http://shop.example/9"), None),
        (["http://shop.example/8"], None, Target("http://shop.example/8", None, "http://shop.example/8"), None),
        (["sku-8"], "Toaster", Target("sku-8"), Target("Toaster", "sku-8")),
        (["http://aksw.org/notInWiki/Anna"], "Anna", Target(), Target()),
        (["--NME--"], None, Target(), Target()),
        ([], "Anna", Target(), Target()),
    ],
)
def test_target(identifiers: list[str], name: str | None, with_kb: Target, without: Target | None) -> None:
    if with_kb.title == with_kb.id:
        with_kb = Target(with_kb.title, None, with_kb.url)
    assert target(identifiers, name=name, resolve=KNOWN) == with_kb
    assert without is None or target(identifiers, name=name) == without


def test_an_entity_stays_one_whatever_the_kb_knows() -> None:
    losses: Counter[str] = Counter()
    for identifier in ("Q99", PAGE + "Nowhere", "http://a.b/c", "sku", "<NO_MAPPING>"):
        assert target([identifier], resolve=lambda _: None, losses=losses).title is not None
        assert not is_nil(identifier)
    assert losses == {"entities that the KB does not know; their mentions stay misses": 5}
    target(["Q9"], name="Kent", resolve=KNOWN, losses=losses)
    assert losses["entities that the KB knows by name only"] == 1
