"""Wikitext to clean text with exact link offsets, and the links alone, fast."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from html import unescape

from parlink.data.titles import plain_title

_ENGLISH = """media special talk user wikipedia wp project image file mediawiki template help category portal book draft
module timedtext topic gadget gadget_definition"""
_OTHER_WIKIS = """wikt wiktionary wikisource wikibooks wikiquote wikinews wikiversity wikimedia wikidata wikispecies
species meta commons w b q s n m v d c mw bugzilla metawikipedia meatball sep"""
_CLOSING = """see also, references, external links, external link, further reading, notes, bibliography, sources,
footnotes, notes and references, works cited, citations, related articles, literature"""

NAMESPACES = frozenset(_ENGLISH.split())
_SISTERS = frozenset(_OTHER_WIKIS.split())
_ENDING = frozenset(re.split(r",\s+", _CLOSING))

_LINK = re.compile(r"\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]([a-zß-öø-ÿ]*)")
_PREFIX = re.compile(r"\s*([^:]*?)\s*:")
_LANGUAGE = re.compile(r"simple|[a-z]{2,3}(?:-[a-z]+)*")
_HIDDEN = "ref|math|gallery|timeline|source|syntaxhighlight|score|hiero|imagemap|graph|chem|ce|mapframe|templatestyles"
_DROPPED = re.compile(rf"<!--.*?(?:-->|\Z)|<({_HIDDEN})\b(?:[^<>]*/>|[^<>]*>.*?</\1\s*>)", re.DOTALL | re.IGNORECASE)
_NESTED = re.compile(
    r"\{\{|\}\}|(?:^|>)[:*# \t]*\{\||^[ \t]*\|\}(?!\})|<table\b|</table\s*>", re.MULTILINE | re.IGNORECASE
)
_CLOSES = {"}}": "{{", "|}": "{|", "</table": "<table"}
_EMBEDDED = re.compile(r"\[\[\s*(?i:image|file|media|category)\s*:(?:[^\[\]]|\[\[[^\[\]]*+\]\]|\[[^\[\]]*+\])*+\]\]")
_EXTERNAL = re.compile(r"\[(?:[a-z]+:)?//[^\s\]]*\s*([^\[\]\n]*)\]|\[mailto:\S*\s*([^\[\]\n]*)\]", re.IGNORECASE)
_VISIBLE = re.compile(r"\{\{\s*(?:(?i:unicode|polytonic|IPA|nowrap|nobr|lang\s*\|[^{}|]*))\s*\|([^{}|=]*)\}\}")
_MEASURE = re.compile(r"\{\{\s*[Cc]onvert\s*\|([^{}|]*)\|([^{}|]*)(?:\|[^{}]*)?\}\}")
_TAG = re.compile(r"<(/?[a-zA-Z][^<>]*)>")
_QUOTES = re.compile("'{2,}")
_EMPTY_BRACKETS = re.compile(r" ?\(\s*(?:[,;:]\s*)*\)|(?<=\()\s*[,;:]\s*")  # where a template was
_MAGIC = re.compile(r"__[A-Z]+__|\{\{|\}\}")
_SPACE_BEFORE = re.compile(r" +(?=[,.;](?:\s|$))")
_SPACES = re.compile(r"\s+")
_HEADING = re.compile(r"(={1,6})(.+?)(={1,6})\s*")
_MARKS = re.compile(r"[*#:;]+\s*")


def links(wikitext: str, *, namespaces: Collection[str] = NAMESPACES) -> Iterator[tuple[str, str]]:
    """Yield anchor and target of every link to an article, wherever it stands: templates and tables as well."""
    for match in _LINK.finditer(wikitext):
        target = article(match[1], namespaces)
        if target and (anchor := _shown(match)):
            yield anchor, target


def clean(wikitext: str, *, namespaces: Collection[str] = NAMESPACES) -> tuple[str, list[tuple[int, int, str]]]:
    """Return the prose of an article, a line per paragraph or list item, and the spans and targets of its links.

    Templates, tables, references, images, headings and the closing sections (See also, References, ...) go.
    """
    lines: list[str] = []
    found: list[tuple[int, int, str]] = []
    length = 0
    for raw in _prose(_without_regions(wikitext)):
        line, spans = _line(raw, namespaces)
        if line:
            found += [(length + start, length + end, target) for start, end, target in spans]
            lines.append(line)
            length += len(line) + 1
    return "\n".join(lines), found


def normal_target(target: str) -> str:
    """Return the title that a link's target names: no section, spaces, first letter upper; empty for a section."""
    title = target.partition("#")[0]
    if "&" in title:
        title = unescape(title).partition("#")[0]
    title = " ".join(plain_title(title).split())
    first = title[:1].upper()
    return first + title[1:] if len(first) == 1 else title


def article(target: str, namespaces: Collection[str] = NAMESPACES) -> str | None:
    """Return the title of the article that a link's target names, or None: another namespace, wiki or language."""
    if ":" in target:
        target = target.lstrip().removeprefix(":")
        prefix = _PREFIX.match(target)
        if prefix and _is_outside(prefix[1], namespaces):
            return None
    return normal_target(target) or None


def _is_outside(prefix: str, namespaces: Collection[str]) -> bool:
    name = prefix.lower().replace(" ", "_")
    inside = {name, name.removesuffix("_talk")}.isdisjoint(namespaces) and name not in _SISTERS
    return not inside or _LANGUAGE.fullmatch(prefix) is not None


def _is_hidden(target: str) -> bool:
    """Whether a link stands for the same article in another language, and so shows nothing."""
    prefix = _PREFIX.match(target)
    return prefix is not None and _LANGUAGE.fullmatch(prefix[1]) is not None and prefix[1] not in _SISTERS


def _without_regions(wikitext: str) -> str:
    text = _DROPPED.sub("", wikitext) if "<" in wikitext else wikitext
    if "{{" in text:
        text = _MEASURE.sub(r"\1 \2", _VISIBLE.sub(r"\1", text))
    text = _without_nested(text)
    text = _EMBEDDED.sub("", text)
    return _EXTERNAL.sub(lambda match: match[1] or match[2] or "", text)


def _without_nested(text: str) -> str:
    """Drop templates and tables; what is opened and never closed stays."""
    opened: list[tuple[str, int]] = []
    regions: list[tuple[int, int]] = []
    for match in _NESTED.finditer(text):
        mark = match[0].strip(">:*# \t").lower()
        if mark not in _CLOSES:
            opened.append((mark, match.start()))
            continue
        while opened and any(kind == _CLOSES[mark] for kind, _ in opened):
            kind, start = opened.pop()
            if kind == _CLOSES[mark]:
                while regions and regions[-1][0] > start:
                    regions.pop()
                regions.append((start, match.end()))
                break
    kept, last = [], 0
    for start, end in regions:
        kept.append(text[last:start])
        last = end
    return "".join([*kept, text[last:]])


def _prose(text: str) -> Iterator[str]:
    """Yield paragraphs and list items; no headings, table rows, rulers, or closing sections."""
    ended = 0  # level of the closing section that we are in
    paragraph: list[str] = []
    for line in [*text.split("\n"), ""]:
        if line and line[0] not in "=*#:; |!-{" and not ended:
            paragraph.append(line)
            continue
        if paragraph:
            yield " ".join(paragraph)
            paragraph.clear()
        if line.startswith("=") and (heading := _HEADING.fullmatch(line)):
            level = min(len(heading[1]), len(heading[3]))
            if not ended or level <= ended:
                ended = level if heading[2].strip(" '").lower() in _ENDING else 0
        elif not ended and line and not line.startswith(("|", "!", "----", "{|")):
            yield line


def _line(raw: str, namespaces: Collection[str]) -> tuple[str, list[tuple[int, int, str]]]:
    """Clean one line, marks of lists and emphasis removed, white space single."""
    raw = _formatted(raw)
    line, spans, last = "", [], 0
    for match in _LINK.finditer(raw):
        line = _joined(line, raw[last : match.start()])
        last = match.end()
        target = article(match[1], namespaces)
        if target is None and _is_hidden(match[1]):
            continue
        start = len(line)
        line = _joined(line, _shown(match))
        if target is not None and (start := start + (line[start : start + 1] == " ")) < len(line):
            spans.append((start, len(line), target))
    return _joined(line, raw[last:]).rstrip(), spans


def _formatted(raw: str) -> str:
    raw = _MARKS.sub("", raw, count=1) if raw[0] in "*#:;" else raw
    if "<" in raw:
        raw = _TAG.sub(lambda match: " " if match[1][:2].lower() == "br" else "", raw)
    if "''" in raw:
        raw = _QUOTES.sub(_apostrophes, raw)
    if "__" in raw or "{{" in raw or "}}" in raw:
        raw = _MAGIC.sub("", raw)
    raw = _EMPTY_BRACKETS.sub("", raw) if "(" in raw else raw
    return _SPACE_BEFORE.sub("", raw)


def _apostrophes(match: re.Match[str]) -> str:
    run = len(match[0])
    return "'" if run == 4 else "'" * max(0, run - 5)


def _joined(line: str, piece: str) -> str:
    """Append a piece; white space is one space, and none at the start of a line."""
    if "&" in piece:
        piece = unescape(piece)
    piece = _SPACES.sub(" ", piece)
    if not line or line[-1] == " ":
        piece = piece.removeprefix(" ")
    return line + piece


def _shown(match: re.Match[str]) -> str:
    """Return what a reader sees of a link, the letters that follow it included."""
    target, label, trail = match[1], match[2], match[3]
    if label is None:
        label = target.strip().removeprefix(":").replace("_", " ")
    elif not label.strip():  # the pipe trick: [[Kent (county)|]]
        label = re.sub(r"\s*\([^()]*\)$|,.*$", "", target.strip())
    if "''" in label or "<" in label:
        label = _QUOTES.sub(_apostrophes, _TAG.sub("", label))
    if "&" in label:
        label = unescape(label)
    return " ".join(label.split()) + trail
