"""Pages of a MediaWiki XML dump, streamed; a dump that is cut off gives every page that is whole."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import BinaryIO

from parlink.data import files
from parlink.data.wikipedia.dates import is_date_or_number
from parlink.data.wikipedia.wikitext import NAMESPACES, clean, links, normal_target
from parlink.errors import DataFormatError

__all__ = ["Page", "clean", "links", "namespace_names", "normal_target", "pages", "raw_pages", "skip_reason"]

_log = logging.getLogger(__name__)
_CHUNK = 1 << 22
_NAMESPACE = re.compile(rb'<namespace key="(-?\d+)"[^>]*>([^<]*)</namespace>')
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_KEY = re.compile(r"<ns>(-?\d+)</ns>")
_ID = re.compile(r"<id>(\d+)</id>")
_REDIRECT = re.compile(r'<redirect title="([^"]*)"')
_REDIRECT_TEXT = re.compile(
    r"\s*#(?:redirect|weiterleitung|redirection|redirección|redirecionamento|rinvia|doorverwijzing|перенаправление)"
    r"\s*:?\s*\[\[([^\[\]|]+)",
    re.IGNORECASE,
)
_DISAMBIGUATION = re.compile(
    r"\{\{\s*(?:[\w -]*disambig(?:uation)?(?![ -]needed)(?:[ -][^{}]*)?"  # "needed" marks a link, not a page
    r"|[234]CC|[TFL]LA|(?:hn|geo|road|school|place)dis|dab|disamb)"
    r"\s*(?:\|[^{}]*)?\}\}",
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


def raw_pages(path: Path | str) -> Iterator[bytes]:
    """Yield the bytes up to the end of each page, the head of the dump before the first; `parse` reads them."""
    found = False
    with files.opened(path) as file:
        rest = b""
        for chunk in _chunks(file, path):
            *whole, rest = (rest + chunk).split(b"</page>")
            found = found or bool(whole)
            yield from whole
    if b"<page>" in rest:
        _log.warning("%s: the dump is cut off in a page, which is left out", path)
    elif not found:
        raise DataFormatError("no <page> found; give a MediaWiki XML dump (pages-articles)", path=path)


def parse(raw: bytes, prefixes: dict[str, int] | None = None) -> Page:
    """Read a page of `raw_pages`; `prefixes` gives the namespace of a title in dumps that do not say it."""
    page = raw[raw.find(b"<page>") :].decode(errors="replace")
    title = unescape(_first(_TITLE, page) or "")
    key = _first(_KEY, page)
    text = _last_text(page)
    redirect = _first(_REDIRECT, page)
    target = unescape(redirect) if redirect else _first(_REDIRECT_TEXT, text)
    number = _first(_ID, page)
    return Page(
        title=title,
        namespace=int(key) if key else (prefixes or {}).get(title.partition(":")[0].lower(), 0) if ":" in title else 0,
        redirect=(normal_target(target) or None) if target else None,
        text=text,
        id=int(number) if number else None,
    )


def namespace_names(path: Path | str) -> frozenset[str]:
    """Return the names of the namespaces that the head of a dump lists, and the usual English ones."""
    with files.opened(path) as file:
        head = next(_chunks(file, path, size=1 << 16), b"")
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


def _chunks(file: BinaryIO, path: Path | str, size: int = _CHUNK) -> Iterator[bytes]:
    try:
        while chunk := file.read(size):
            yield chunk
    except files.BROKEN as error:
        _log.warning("%s: the compressed dump is cut off (%s)", path, error)


def _prefixes(head: bytes) -> dict[str, int]:
    return {unescape(name.decode()).lower(): int(key) for key, name in _NAMESPACE.findall(head) if name}


def _first(pattern: re.Pattern[str], page: str) -> str | None:
    match = pattern.search(page)
    return match[1] if match else None


def _last_text(page: str) -> str:
    start = page.rfind("<text")
    end = page.find(">", start)
    if start < 0 or page[end - 1] == "/":  # <text /> is an empty page
        return ""
    return _unescaped(page[end + 1 : page.find("</text>", end)])


def _unescaped(text: str) -> str:
    if "&" not in text:
        return text
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
