"""Wikitext to clean text with exact link offsets, and the links alone, fast."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from parlink.data.references import unescape, unescape_title
from parlink.data.titles import plain_title
from parlink.data.wikipedia.regions import cut_asides, cut_code, cut_nested

_ENGLISH = """media special talk user wikipedia wp project image file mediawiki template help category portal book draft
module timedtext topic gadget gadget_definition"""
_OTHER_WIKIS = """wikt wiktionary wikisource wikibooks wikiquote wikinews wikiversity wikimedia wikidata wikispecies
species meta commons w b q s n m v d c mw bugzilla metawikipedia meatball sep"""
_CLOSING = """see also, references, external links, external link, further reading, notes, bibliography, sources,
footnotes, notes and references, works cited, citations, related articles, literature"""

NAMESPACES = frozenset(_ENGLISH.split())
_SISTERS = frozenset(_OTHER_WIKIS.split())
_ENDING = frozenset(re.split(r",\s+", _CLOSING))

# A target has none of the characters that no title may have. Repeats are possessive: see regions.py.
_LINK = re.compile(r"\[\[([^\[\]|{}<>\n]*+)(?:\|([^\[\]]*+))?+\]\]([a-zß-öø-ÿ]*+)")
_LANGUAGE = re.compile(r"simple|[a-z]{2,3}(?:-[a-z]++)*+")
_LONGEST_TITLE = 255  # bytes, MediaWiki's own limit
_EMBEDDED = re.compile(r"\[\[\s*+(?i:image|file|media|category)\s*+:(?:[^\[\]]|\[\[[^\[\]]*+\]\]|\[[^\[\]]*+\])*+\]\]")
_EXTERNAL = re.compile(r"\[(?:(?:[a-z]++:)?+//|mailto:)[^\s\[\]]*+[^\S\n]*+([^\[\]\n]*+)\]", re.IGNORECASE)
_VISIBLE = re.compile(
    r"\{\{\s*+(?:(?:unicode|polytonic|IPA|nowrap|nobr)\s*+|lang\s*+\|[^{}|]*+)\|([^{}|=]*+)\}\}", re.IGNORECASE
)
_MEASURE = re.compile(r"\{\{\s*+[Cc]onvert\s*+\|([^{}|]*+)\|([^{}|]*+)(?:\|[^{}]*+)?+\}\}")
_TAG = re.compile(r"<(/?[a-zA-Z][^<>]*+)>")
_QUOTES = re.compile("'{2,}+")
_EMPTY_BRACKETS = re.compile(r" ?\(\s*+(?:[,;:]\s*+)*+\)|(?<=\()\s*+[,;:]\s*+")  # where a template was
_MAGIC = re.compile(r"__[A-Z]++__|\{\{|\}\}")
_SPACE_BEFORE = re.compile(r"(?<! ) ++(?=[,.;](?:\s|$))")
_SPACES = re.compile(r"\s++")
_MARKS = re.compile(r"[*#:;]++\s*+")


def links(wikitext: str, *, namespaces: Collection[str] = NAMESPACES) -> Iterator[tuple[str, str]]:
    """Yield anchor and target of every link to an article, wherever it stands: templates and tables as well."""
    for match in _LINK.finditer(cut_code(wikitext)):
        target = article(match[1], namespaces)
        if target and (anchor := _anchor(match)):
            yield anchor, target


def clean(wikitext: str, *, namespaces: Collection[str] = NAMESPACES) -> tuple[str, list[tuple[int, int, str]]]:
    """Return the prose of an article, a line per paragraph or list item, and the spans and targets of its links.

    Templates, tables, references, images, headings and the closing sections (See also, References, ...) go.
    """
    lines: list[str] = []
    links: list[tuple[int, int, str]] = []
    length = 0
    for raw in _split_prose(_cut_regions(wikitext)):
        line, spans = _clean_line(raw, namespaces)
        if line:
            links += [(length + start, length + end, target) for start, end, target in spans]
            lines.append(line)
            length += len(line) + 1
    return "\n".join(lines), links


def normal_target(target: str) -> str:
    """Return the title that a link's target names: no section, spaces, first letter upper; empty for a section."""
    title = " ".join(plain_title(unescape_title(target).partition("#")[0]).split())
    first = title[:1].upper()
    return first + title[1:] if len(first) == 1 else title


def article(target: str, namespaces: Collection[str] = NAMESPACES) -> str | None:
    """Return the title of the article that a link's target names, or None: another namespace, wiki or language."""
    if ":" in target:
        target = target.lstrip().removeprefix(":")
        prefix, colon, _ = target.partition(":")
        if colon and _is_outside(prefix.strip(), namespaces):
            return None
    title = normal_target(target)
    return title if title and len(title.encode(errors="replace")) <= _LONGEST_TITLE else None


def _is_outside(prefix: str, namespaces: Collection[str]) -> bool:
    name = prefix.lower().replace(" ", "_")
    inside = {name, name.removesuffix("_talk")}.isdisjoint(namespaces) and name not in _SISTERS
    return not inside or _LANGUAGE.fullmatch(prefix) is not None


def _is_hidden(target: str) -> bool:
    """Whether a link stands for the same article in another language, and so shows nothing."""
    prefix, colon, _ = target.partition(":")
    name = prefix.strip()
    return bool(colon) and _LANGUAGE.fullmatch(name) is not None and name not in _SISTERS


def _cut_regions(wikitext: str) -> str:
    text = cut_asides(wikitext)
    if "{{" in text:
        text = _MEASURE.sub(r"\1 \2", _VISIBLE.sub(r"\1", text))
    return _EXTERNAL.sub(r"\1", _EMBEDDED.sub("", cut_nested(text)))


def _split_prose(text: str) -> Iterator[str]:
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
        if line.startswith("=") and (level := _heading_level(line)):
            if not ended or level <= ended:
                ended = level if line.strip("= '\t").lower() in _ENDING else 0
        elif not ended and line and not line.startswith(("|", "!", "----", "{|")):
            yield line


def _heading_level(line: str) -> int:
    """Return the level of a heading, 1 to 6; 0: a line that begins like one is none."""
    marked = line.rstrip()
    if not marked.strip("="):
        return 0
    before, after = len(marked) - len(marked.lstrip("=")), len(marked) - len(marked.rstrip("="))
    return min(before, after, 6)


@dataclass
class _Line:
    """A line that grows piece by piece: white space is one space, and none at the start."""

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    ends_in_space: bool = True

    def append(self, piece: str) -> tuple[int, int]:
        """Append a piece, and return its span without a space before it."""
        piece = _SPACES.sub(" ", piece)
        if self.ends_in_space:
            piece = piece.removeprefix(" ")
        start = self.length + piece.startswith(" ")
        if piece:
            self.pieces.append(piece)
            self.length += len(piece)
            self.ends_in_space = piece.endswith(" ")
        return start, self.length


def _clean_line(raw: str, namespaces: Collection[str]) -> tuple[str, list[tuple[int, int, str]]]:
    """Clean one line, marks of lists and emphasis removed, white space single."""
    raw = _strip_marks(raw)
    line, spans, last = _Line(), [], 0
    for match in _LINK.finditer(raw):
        line.append(unescape(raw[last : match.start()]))
        last = match.end()
        target = article(match[1], namespaces)
        if target is None and _is_hidden(match[1]):
            continue
        start, end = line.append(_anchor(match))
        if target is not None and start < end:
            spans.append((start, end, target))
    line.append(unescape(raw[last:]))
    return "".join(line.pieces).rstrip(), spans


def _strip_marks(raw: str) -> str:
    raw = _MARKS.sub("", raw, count=1) if raw[0] in "*#:;" else raw
    if "<" in raw:
        raw = _TAG.sub(lambda match: " " if match[1][:2].lower() == "br" else "", raw)
    if "''" in raw:
        raw = _QUOTES.sub(_keep_apostrophes, raw)
    if "__" in raw or "{{" in raw or "}}" in raw:
        raw = _MAGIC.sub("", raw)
    raw = _EMPTY_BRACKETS.sub("", raw) if "(" in raw else raw
    return _SPACE_BEFORE.sub("", raw)


def _keep_apostrophes(match: re.Match[str]) -> str:
    run = len(match[0])
    return "'" if run == 4 else "'" * max(0, run - 5)


def _anchor(match: re.Match[str]) -> str:
    """Return what a reader sees of a link, the letters that follow it included."""
    target, label, trail = match[1], match[2], match[3]
    if label is None:
        label = target.strip().removeprefix(":").replace("_", " ")
    elif not label.strip():  # the pipe trick: [[Kent (county)|]]
        label = target.partition(",")[0].partition("(")[0]
    if "''" in label or "<" in label:
        label = _QUOTES.sub(_keep_apostrophes, _TAG.sub("", label))
    return " ".join(unescape(label).split()) + trail
