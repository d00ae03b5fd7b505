"""HTML without its markup: the text as one reads it, and the way back to the page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlink.data.html import strip_html
from parlink.types import Document, Link, Span

PAGE = """<html><head><title>x</title><style>p {}</style></head>
<body><!-- Kent --><p title="a > b">AT&amp;T of <b>New</b> <i>York</i>&nbsp;&#8211; Caf&eacute;<br>Kent<script
>var Kent;</script>
<td>one</td><td>two</td></p></body></html>"""


def test_text() -> None:
    text = strip_html(PAGE).text
    assert "AT&T of New York\xa0– Café\nKent\none\ntwo" in text.replace("\n\n", "\n").replace("\n\n", "\n")
    assert "var" not in text
    assert "{}" not in text


@pytest.mark.parametrize(
    ("surface", "there"),
    [("AT&T", "AT&amp;T"), ("New York", "New</b> <i>York"), ("Café", "Caf&eacute;"), ("Kent", "Kent"), ("two", "two")],
)
def test_spans_lead_back_to_the_page(surface: str, there: str) -> None:
    stripped = strip_html(PAGE)
    start = stripped.text.index(surface)
    span = Span(start, start + len(surface))
    doc = Document(stripped.text, "1", (Link(span, "X"),), spans=(span,))
    restored = stripped.restore(doc, PAGE)
    place = restored.links[0].span
    assert PAGE[place.start : place.end] == there
    assert restored.spans == (place,)
    assert restored.text == PAGE


PIECES = ["<b>", "</b>", "<p ", ">", "<", "&", "&amp;", "&#38;", "&#", "&nosuch;", "&lt", "<!--", "-->", '"', "a", "é"]
PIECES += ["\n", "\r\n", "<script>", "</script>", "<br/>", "<![CDATA[", "]]>", "<?", "</", "&NotEqualTilde;", "\0"]


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_every_character_has_a_place(page: str) -> None:
    stripped = strip_html(page)
    assert len(stripped.text) == len(stripped.starts) == len(stripped.ends)
    assert all(start < end <= len(page) for start, end in zip(stripped.starts, stripped.ends, strict=True))
    assert list(stripped.starts) == sorted(stripped.starts)
    for character, start, end in zip(stripped.text, stripped.starts, stripped.ends, strict=True):
        assert character == page[start:end] or character == "\n" or page[start] == "&" or page[start] == "\0"


def test_plain_text_is_left_as_it_is() -> None:
    text = "Kent & Sons, 3 < 4\n\tVoß"
    assert strip_html(text).text == text
