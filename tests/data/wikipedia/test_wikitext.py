"""Wikitext: clean prose, links exactly where the text has them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlink.data.wikipedia.dates import is_date_or_number
from parlink.data.wikipedia.wikitext import article, clean, links, normal_target

PIECES = ["[[", "]]", "|", "{{", "}}", "{|", "|}", "\n", "''", "'''", "<ref>", "</ref>", "<br/>", "&nbsp;", "&amp;"]
PIECES += [
    "Elbe",
    "River",
    " ",
    "  ",
    "==",
    "* ",
    ":",
    "File:",
    "de:",
    "[http://a.b c]",
    "#x",
    "<!--",
    "-->",
    "é",
    "🦊",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_wikitext_gives_spans_of_whole_words_in_order(wikitext: str) -> None:
    text, found = clean(wikitext)
    assert text == text.strip()
    assert "  " not in text
    last = 0
    for start, end, target in found:
        assert last <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        assert target
        assert "\n" not in text[start:end]
        last = end
    list(links(wikitext))


names = st.text(st.sampled_from("abcdeéz🦊 "), min_size=1).map(str.strip).filter(bool)


@given(
    st.lists(st.tuples(st.sampled_from(["runs ", "to ", "", ", "]), names, st.none() | names), min_size=1, max_size=5)
)
def test_every_link_comes_back(parts: list[tuple[str, str, str | None]]) -> None:
    wikitext = "The " + " and ".join(
        f"{before}[[{target}]]" if label is None else f"{before}[[{target}|{label}]]" for before, target, label in parts
    )
    text, found = clean(wikitext)
    shown = [" ".join((target if label is None else label).split()) for _, target, label in parts]
    assert [text[start:end] for start, end, _ in found] == shown
    assert [target for _, _, target in found] == [normal_target(target) for _, target, _ in parts]
    assert [anchor for anchor, _ in links(wikitext)] == shown


@pytest.mark.parametrize(
    ("wikitext", "text", "found"),
    [
        ("The [[Elbe|river]] flows.", "The river flows.", [("river", "Elbe")]),
        ("Two [[bus]]es and [[tram]]-lines", "Two buses and tram-lines", [("buses", "Bus"), ("tram", "Tram")]),
        ("'''The''' ''[[Norway|''Norwegian'']]''", "The Norwegian", [("Norwegian", "Norway")]),
        ("A{{cite|x{{y|z}}}} b<ref name=q/>c<ref>[[No]]</ref>d", "A bcd", []),
        ("{| class=x\n| [[No]]\n{|\n|inner\n|}\n|}\nAfter [[Yes]]", "After Yes", [("Yes", "Yes")]),
        ("{{Infobox\n| a = {|\n| b\n|}\n}}\nText", "Text", []),
        ("[[File:a.png|thumb|A [[cat]] [http://x.y z] sits]]A [[dog]]", "A dog", [("dog", "Dog")]),
        ("[[Category:Rivers]][[de:Elbe]][[:Category:Rivers|rivers]] [[wikt:foo|foo]]", "rivers foo", []),
        ("See [http://a.b/c the page], [http://d.e] now", "See the page, now", []),
        ("one\nline [[the same|the\nsame]]\n\nnext", "one line the same\nnext", [("the same", "The same")]),
        ("== History ==\nOne\n== See also ==\n* [[No]]\n=== Deeper ===\nNo\n== Later ==\nTwo", "One\nTwo", []),
        ("* [[One]]\n*[[Two]]\n----\n", "One\nTwo", [("One", "One"), ("Two", "Two")]),
        ("A&nbsp;B &lt;i&gt; &#91;&#91;C]]", "A B <i> [[C]]", []),
        ("Ole ({{IPA|}}; 1810) played", "Ole (1810) played", []),
        ("Rain ({{IPA|}}) falls<br/>on [[Bergen#Port|Bergen]] .", "Rain falls on Bergen.", [("Bergen", "Bergen")]),
        ("{{lang|de|Straße}} of {{convert|5|km|mi}}", "Straße of 5 km", []),
        ("[[#Section|here]] and [[Kent (county)|]]", "here and Kent", [("Kent", "Kent (county)")]),
        ("unclosed {{template and [[link|text", "unclosed template and [[link|text", []),
        ("<table><tr><td>[[No]]</td></tr></table>Yes", "Yes", []),
        ("d''''Or''' is ''l'un''", "d'Or is l'un", []),
        ("", "", []),
    ],
)  # fmt: skip
def test_golden(wikitext: str, text: str, found: list[tuple[str, str]]) -> None:
    got, spans = clean(wikitext)
    assert got == text
    assert [(got[start:end], target) for start, end, target in spans] == found


def test_links_are_found_in_templates_tables_and_captions() -> None:
    wikitext = "{{box|[[A]]}} {|\n|[[b|B b]]\n|}\n[[Image:c.png|a [[c]]]] [[D''d''|''x'']] [[image:e.png]] [[fr:F]]"
    assert list(links(wikitext)) == [("A", "A"), ("B b", "B"), ("c", "C"), ("x", "D''d''")]


@pytest.mark.parametrize("tag", ["nowiki", "pre", "NOWIKI"])
def test_what_is_shown_as_it_is_written_has_no_links(tag: str) -> None:
    wikitext = f"Write <{tag}>[[x]] and ''y''</{tag}> for a [[link]]."
    assert list(links(wikitext)) == [("link", "Link")]
    text, spans = clean(wikitext)
    assert text == "Write [[x]] and ''y'' for a link."
    assert [target for _, _, target in spans] == ["Link"]


def test_comments_and_code_have_no_links() -> None:
    wikitext = "<!-- [[a]] --><math>[[b]]</math><syntaxhighlight lang=x>[[c]]</syntaxhighlight><ref>[[d]]</ref>"
    assert list(links(wikitext)) == [("d", "D")]


def test_a_title_of_more_than_255_bytes_is_none() -> None:
    assert article("é" * 127) == "É" + "é" * 126
    assert article("é" * 128) is None


@pytest.mark.parametrize(
    ("target", "title"),
    [
        ("new_York  City#History", "New York City"),
        ("AT&amp;T", "AT&T"),
        ("Li&#39;l Abner#Plot", "Li'l Abner"),
        ("Li&amp;#39;l Abner", "Li'l Abner"),
        ("1985&amp;ndash;86 in football", "1985–86 in football"),
        ("Elbe&#35;Course", "Elbe"),
        ("R&copy", "R&copy"),
        ("Caf%C3%A9", "Café"),
        ("100%", "100%"),
        ("ßharp", "ßharp"),
        (" :Talk:Elbe", None),
        ("User talk:Someone", None),
        ("2001: A Space Odyssey", "2001: A Space Odyssey"),
        ("Wikipedia:About", None),
        ("zh-min-nan:X", None),
        ("#top", None),
    ],
)
def test_article_of_a_target(target: str, title: str | None) -> None:
    assert article(target) == title


def test_namespaces_of_another_language() -> None:
    assert article("Datei:x.png", {"datei"}) is None
    assert article("Datei:x.png") == "Datei:x.png"


DATES = """1999; 5 BC; AD 70; 1990s; 19th century; May 5; May 1999; 5 May; 7 (number); 3.14; 1999 in film; 2006-01-11;
1st millennium BC; 1 E-10 m; June 1996; 470s BC; 747"""
ENTITIES = """1999 (album); 2001: A Space Odyssey; May (band); Mayor; March of Brandenburg; 433 Eros; 3D; A.D. Vision;
1996 Summer Olympics; 7-Eleven; Number; May Day; 20th Century Fox"""


@pytest.mark.parametrize("title", re.split(r";\s", DATES))
def test_dates_and_numbers(title: str) -> None:
    assert is_date_or_number(title)


@pytest.mark.parametrize("title", re.split(r";\s", ENTITIES))
def test_entities_that_look_like_dates(title: str) -> None:
    assert not is_date_or_number(title)
