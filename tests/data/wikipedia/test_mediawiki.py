"""MediaWiki dumps: old and new, compressed, cut off."""

from __future__ import annotations

import bz2
import gzip
import io
import tracemalloc
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from parlink.data.wikipedia import mediawiki
from parlink.data.wikipedia.mediawiki import Page, links, namespace_names, pages, skip_reason
from parlink.errors import DataFormatError

HEAD = """<mediawiki xml:lang="en">
  <siteinfo><namespaces>
    <namespace key="0" />
    <namespace key="10">Template</namespace>
    <namespace key="102" case="first-letter">Reading room</namespace>
  </namespaces></siteinfo>
"""


def old_page(title: str, text: str) -> str:
    return f"""  <page><title>{escape(title)}</title><id>3</id><revision><id>4</id>
      <text xml:space="preserve">{escape(text, {'"': "&quot;"})}</text></revision></page>\n"""


NEW = """  <page><title>Kent</title><ns>0</ns><id>7</id><redirect title="Kent &amp; Sussex" /><revision>
  <text bytes="3" xml:space="preserve">#WEITERLEITUNG [[Kent &amp;amp; Sussex]]</text></revision></page>
  <page><title>Template:Empty</title><ns>10</ns><id>8</id><revision><text bytes="0" /></revision></page>
"""
OLD = HEAD + old_page("A & B", 'The <b>"A"</b> &amp; [[B]]') + old_page("Reading room:X", "x")
OLD += old_page("C", "#redirect: [[a_%26_B#part]]") + old_page("2001: D", "d")


def test_any_way_of_xml_to_write_a_character_is_read(tmp_path: Path) -> None:
    text = (
        "&#x27;&#39;Li&apos;l&#x27;&#x27; [[Rowntree&#x27;s|&#39;&#39;R&#39;&#39;]] &#38;lt; &amp;#39; &amp;apos; &lt;"
    )
    (tmp_path / "a.xml").write_text(HEAD + old_page("A", "x").replace(">x<", f">{text}<") + "</mediawiki>")
    (page,) = pages(tmp_path / "a.xml")
    assert page.text == "''Li'l'' [[Rowntree's|''R'']] &lt; &#39; &apos; <"
    assert list(links(page.text)) == [("R", "Rowntree's")]


def test_old_dump(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    path.write_text(OLD + "</mediawiki>")
    assert list(pages(path)) == [
        Page("A & B", 0, None, 'The <b>"A"</b> &amp; [[B]]', 3),
        Page("Reading room:X", 102, None, "x", 3),
        Page("C", 0, "A & B", "#redirect: [[a_%26_B#part]]", 3),
        Page("2001: D", 0, None, "d", 3),
    ]
    assert {"reading_room", "template", "file"} <= namespace_names(path)


def test_new_dump(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(bz2.compress((HEAD + NEW).encode()))
    kent, empty = pages(path)
    assert (kent.redirect, kent.namespace, kent.id) == ("Kent & Sussex", 0, 7)
    assert empty == Page("Template:Empty", 10, None, "", 8)


@pytest.mark.parametrize("cut", range(1, 400, 7))
def test_a_dump_cut_off_gives_its_whole_pages(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "dump.xml"
    path.write_text(dump := OLD[:-cut])
    assert [page.title for page in pages(path)] == ["A & B", "Reading room:X", "C", "2001: D"][: dump.count("</page>")]


def test_compression_cut_off_gives_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml.gz"
    many = HEAD + "".join(old_page(f"P{n}", "x" * 5000 + str(n)) for n in range(5000))
    path.write_bytes(gzip.compress(many.encode())[:-500])
    found = [page.title for page in pages(path)]
    assert 0 < len(found) < 5000
    assert found == [f"P{n}" for n in range(len(found))]


def test_pages_larger_than_a_chunk(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    path.write_text(HEAD + old_page("Large", "a" * 9_000_000) + old_page("Small", "b"))
    assert [(page.title, len(page.text)) for page in pages(path)] == [("Large", 9_000_000), ("Small", 1)]


def many_pages() -> bytes:
    return (HEAD + "".join(old_page(f"P{n}", "x" * 500 + str(n)) for n in range(2000)) + "</mediawiki>").encode()


def test_a_dump_damaged_in_the_middle_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml.bz2"
    third = len(many_pages()) // 3
    streams = [many_pages()[start : start + third] for start in range(0, len(many_pages()), third)]
    packed = [bytearray(bz2.compress(stream)) for stream in streams]
    for place in (0, len(packed[1]) // 2):  # the stream's head, which bz2 takes for its end; the body
        damaged = [bytearray(stream) for stream in packed]
        damaged[1][place] ^= 0xFF
        path.write_bytes(b"".join(damaged))
        with pytest.raises(DataFormatError, match="damaged"):
            list(pages(path))


def test_an_input_output_error_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            if self.tell() > 50_000:
                raise OSError(5, "Input/output error")
            return super().read1(1000)

    monkeypatch.setattr(mediawiki.files, "_open_raw", lambda path: Failing(many_pages()))
    with pytest.raises(DataFormatError, match="Input/output error"):
        list(pages(tmp_path / "dump.xml"))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_a_dump_cut_off_says_so_and_gives_all_that_was_there(tmp_path: Path, pack) -> None:
    path = tmp_path / {bytes: "d.xml", gzip.compress: "d.xml.gz", bz2.compress: "d.xml.bz2"}[pack]
    whole = pack(many_pages())
    warnings: list[str] = []
    path.write_bytes(whole)
    assert len(list(mediawiki.raw_pages(path, on_cut_off=warnings.append))) == 2000
    assert warnings == []
    path.write_bytes(whole[: -len(whole) // 4] if pack is not bz2.compress else pack(many_pages())[:-4])
    count = len(list(mediawiki.raw_pages(path, on_cut_off=warnings.append)))
    assert count > 1000
    assert "cut off" in warnings[0]


def test_a_page_without_end_is_an_error_and_not_held_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xml.bz2"
    path.write_bytes(bz2.compress(b"<mediawiki><page>" + b" " * (3 * mediawiki.MAX_PAGE)))
    assert path.stat().st_size < 1000
    tracemalloc.start()
    try:
        with pytest.raises(DataFormatError, match="a page of more than 32 MB"):
            list(pages(path))
        assert tracemalloc.get_traced_memory()[1] < 3 * mediawiki.MAX_PAGE
    finally:
        tracemalloc.stop()


def test_a_redirect_stands_at_the_beginning(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    path.write_text(HEAD + old_page("Redirects", "One writes <nowiki>#REDIRECT [[Elbe]]</nowiki>.") + "</mediawiki>")
    assert [page.redirect for page in pages(path)] == [None]


def test_not_a_dump(tmp_path: Path) -> None:
    path = tmp_path / "x.xml"
    path.write_text("<html></html>")
    with pytest.raises(DataFormatError, match="MediaWiki"):
        list(pages(path))


@pytest.mark.parametrize(
    ("title", "text", "namespace", "reason"),
    [
        ("Elbe", "A river.", 0, None),
        ("Template:X", "x", 10, "namespace"),
        ("Elbe", " \n", 0, "empty"),
        ("Elbe", "#REDIRECT [[Labe]]", 0, "redirect"),
        ("Mercury (disambiguation)", "x", 0, "disambiguation"),
        ("Mercury", "* [[A]]\n{{disambig}}", 0, "disambiguation"),
        ("Mercury", "* [[A]]\n{{Disambiguation|geo|surname}}", 0, "disambiguation"),
        ("ABC", "{{hndis|Abc}}", 0, "disambiguation"),
        ("Elbe", "{{dablink|For other uses, see [[Elbe (disambiguation)]]}} A river.", 0, None),
        ("Elbe", "A river of [[Mercury]]{{disambiguation needed|date=May 2020}}.", 0, None),
        ("List of rivers", "x", 0, "list"),
        ("May 5", "x", 0, "date or number"),
    ],
)
def test_skip_reason(title: str, text: str, namespace: int, reason: str | None) -> None:
    assert skip_reason(title, text, namespace=namespace) == reason
