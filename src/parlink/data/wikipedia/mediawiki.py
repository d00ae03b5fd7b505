"""Pages of a MediaWiki XML dump, streamed; a dump that is cut off gives every page that is whole."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import BinaryIO, cast

from parlink.data import files
from parlink.data.references import unescape
from parlink.data.wikipedia.dates import is_date_or_number
from parlink.data.wikipedia.wikitext import NAMESPACES, clean, links, normal_target
from parlink.errors import DataFormatError

__all__ = ["Page", "clean", "links", "namespace_names", "normal_target", "pages", "raw_pages", "skip_reason"]

_log = logging.getLogger(__name__)
_CHUNK = 1 << 22
_HEAD = 1 << 16  # bytes in which the head of a dump lists its namespaces
MAX_PAGE = 32 << 20  # bytes; MediaWiki allows 2 MB of text, and a dump of whole histories is not for us
_NAMESPACE = re.compile(rb'<namespace key="(-?\d{1,9})"[^<>]*+>([^<]*+)</namespace>')
_TITLE = re.compile(r"<title>([^<]*+)</title>")
_CHARACTER = re.compile(r"&(?:#[0-9]{1,7}+|#x[0-9a-fA-F]{1,6}+|apos);")
_KEY = re.compile(r"<ns>(-?\d{1,9})</ns>")
_ID = re.compile(r"<id>(\d{1,18})</id>")
_REDIRECT = re.compile(r'<redirect title="([^"<>]*+)"')
_REDIRECT_TEXT = re.compile(
    r"\s*+#(?:redirect|weiterleitung|redirection|redirección|redirecionamento|rinvia|doorverwijzing|перенаправление)"
    r"\s*+:?+\s*+\[\[([^\[\]|\n]++)",
    re.IGNORECASE,
)
_DISAMBIGUATION = re.compile(
    r"\{\{\s*+(?:[\w -]{0,60}?disambig(?:uation)?+(?![ -]needed)(?:[ -][^{}|]*+)?+"  # "needed" marks a link
    r"|[234]CC|[TFL]LA|(?:hn|geo|road|school|place)dis|dab|disamb)"
    r"\s*+(?:\||\}\})",
    re.IGNORECASE,
)
_LIST = re.compile(r"(?:Lists?|Index|Outline|Timeline|Glossary|Table|Comparison) of ")


@dataclass(frozen=True, slots=True)
class Page:
    """One page: `redirect` is the title it points to; the text is wikitext."""

    title: str
    namespace: int
    redirect: str | None
    text: str
    id: int | None = None


def pages(path: Path | str) -> Iterator[Page]:
    """Yield every whole page of a dump (.xml, .gz, .bz2, .zst)."""
    prefixes: dict[str, int] = {}
    for number, raw in enumerate(raw_pages(path)):
        if number == 0:
            prefixes = _prefixes(raw)
        yield parse(raw, prefixes)


def raw_pages(path: Path | str, *, on_cut_off: Callable[[str], None] | None = None) -> Iterator[bytes]:
    """Yield the bytes up to the end of each page, the head of the dump before the first; `parse` reads them.

    A dump that ends too early gives the pages that are whole, and `on_cut_off` is told, else the log. One that is
    damaged before its end is an error, and so is a page larger than `MAX_PAGE`.
    """
    any_page, rest, cause = False, b"", None
    with files.open_input(path) as file:
        for chunk in _chunks(file, path):
            if isinstance(chunk, EOFError):
                cause = str(chunk)
                break
            *whole, rest = (rest + chunk).split(b"</page>")
            any_page = any_page or bool(whole)
            yield from whole
            if len(rest) > MAX_PAGE:
                size = f"{MAX_PAGE >> 20} MB"
                message = f"a page of more than {size}; give a dump of current pages (pages-articles), unharmed"
                raise DataFormatError(message, path=path)
    if not any_page and b"<page>" not in rest:
        raise DataFormatError("no <page> found; give a MediaWiki XML dump (pages-articles)", path=path)
    if cause is not None or b"</mediawiki>" not in rest:
        message = f"the dump is cut off ({cause or 'no </mediawiki>'}); the pages that are whole are taken"
        (on_cut_off or partial(_log.warning, "%s: %s", path))(message)


def parse(raw: bytes, prefixes: dict[str, int] | None = None) -> Page:
    """Read a page of `raw_pages`; `prefixes` gives the namespace of a title in dumps that do not say it."""
    page = raw[raw.find(b"<page>") :].decode(errors="replace")
    head = page.partition("<revision")[0]
    title = unescape(_first(_TITLE, head) or "")
    key = _first(_KEY, head)
    text = _last_text(page)
    redirect = _first(_REDIRECT, head)
    in_text = None if redirect else _REDIRECT_TEXT.match(text)
    target = unescape(redirect) if redirect else in_text[1] if in_text else None
    number = _first(_ID, head)
    return Page(
        title=title,
        namespace=int(key) if key else (prefixes or {}).get(title.partition(":")[0].lower(), 0) if ":" in title else 0,
        redirect=(normal_target(target) or None) if target else None,
        text=text,
        id=int(number) if number else None,
    )


def namespace_names(path: Path | str) -> frozenset[str]:
    """Return the names of the namespaces that the head of a dump lists, and the usual English ones."""
    with files.open_input(path) as file:
        head = next(_chunks(file, path, size=_HEAD), b"")
    if isinstance(head, EOFError):
        raise DataFormatError(f"the dump is cut off in its head ({head}); fetch it again", path=path)
    return NAMESPACES | {name.replace(" ", "_") for name in _prefixes(head)}


def skip_reason(title: str, text: str, *, namespace: int = 0) -> str | None:
    """Say why a page is no article to learn from, or None: it is one."""
    if namespace != 0:
        return "namespace"
    if not text.strip():
        return "empty"
    if _REDIRECT_TEXT.match(text):
        return "redirect"
    if title.endswith("(disambiguation)") or _DISAMBIGUATION.search(text):
        return "disambiguation"
    if _LIST.match(title):
        return "list"
    return "date or number" if is_date_or_number(title) else None


def _chunks(file: BinaryIO, path: Path | str, size: int = _CHUNK) -> Iterator[bytes | EOFError]:
    """Yield what a file holds, and at last the error that says that it was cut off, if it was."""
    held = BytesIO()
    try:
        while piece := cast(BufferedIOBase, file).read1(size):  # not `read`, which loses what comes before an error
            held.write(piece)
            if held.tell() >= size:
                yield held.getvalue()
                held = BytesIO()
        yield held.getvalue()
    except EOFError as error:
        yield held.getvalue()
        yield error
    except files.BROKEN as error:
        message = f"the dump is damaged and cannot be read on ({error}); nothing is made of it, fetch it again"
        raise DataFormatError(message, path=path) from error


def _prefixes(head: bytes) -> dict[str, int]:
    names = _NAMESPACE.findall(head[:_HEAD])
    return {unescape(name.decode(errors="replace")).lower(): int(key) for key, name in names if name}


def _first(pattern: re.Pattern[str], head: str) -> str | None:
    match = pattern.search(head)
    return match[1] if match else None


def _last_text(page: str) -> str:
    start = page.rfind("<text")
    end = page.find(">", start)
    if start < 0 or end < 0 or page[end - 1] == "/":  # <text /> is an empty page
        return ""
    closing = page.find("</text>", end)
    return _unescape_xml(page[end + 1 : closing if closing >= 0 else None])


def _unescape_xml(text: str) -> str:
    if "&" not in text:
        return text
    if "&#" in text or "&apos;" in text:  # which other writers of XML than MediaWiki have
        text = _CHARACTER.sub(lambda match: unescape(match[0]).replace("&", "&amp;"), text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
