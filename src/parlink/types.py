"""The values that flow through parlink: spans, entities, candidates, links and documents.

What a person types at a prompt, such as `doc.to_html()`, leads to the function that does the work, and imports it then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

_SHOWN_TEXT, _SHOWN_LINKS = 60, 5  # of a document, by `repr`


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open character range `[start, end)` into a document's text."""

    start: int  # the first character, counted in Unicode code points
    end: int  # one past the last

    def __post_init__(self) -> None:
        if not (type(self.start) is type(self.end) is int):
            raise TypeError(f"Span needs whole numbers, got start {self.start!r:.60} and end {self.end!r:.60}")
        if not 0 <= self.start < self.end:
            raise ValueError(f"Span needs 0 <= start < end, got [{self.start}, {self.end})")

    def overlaps(self, other: Span) -> bool:
        """Whether the two ranges share a character."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Entity:
    """An entry of a knowledge base, known by its unique title."""

    title: str  # its unique name
    id: str | None = None  # such as a Wikidata QID
    type: str | None = None  # what kind of thing it is: person, organization, place, ...
    description: str | None = None  # one line about it
    url: str | None = None  # its page
    popularity: int | None = field(default=None, compare=False)  # how well known it is, as its knowledge base counts

    def __post_init__(self) -> None:
        _want(self, "title", str, "a string")
        _want_optional(self, ("id", "type", "description", "url"))


@dataclass(frozen=True, slots=True, repr=False)
class Candidate:
    """An entity that a mention may refer to: the total score, its parts, and the look-up step that found it."""

    title: str  # the unique name of the entity
    id: str | None = None  # such as a Wikidata QID
    score: float | None = None  # the total that ranks candidates
    prior: float | None = None  # how often the surface refers to this entity, from 0 to 1
    lm: float | None = None  # length-normalized log-likelihood of the title; a usual one, if its name was not read
    classifier: float | None = None  # the discriminative correction, a raw logit
    similarity: float | None = None  # of the mention in its context to the entity's description
    overlap: float | None = None  # how much of the entity's description the text is about, from 0 to 1
    differs: float | None = None  # 1 if the title is not the surface itself ("Apple Inc." for "Apple"), else 0
    coherence: float | None = None  # support by the other mentions of the document
    match_type: str | None = None  # the look-up step by which the surface found it: exact, folded, ...
    url: str | None = None  # the page of the entity
    extra: Mapping[str, Any] = field(default_factory=dict)  # unknown JSON fields, carried through

    def __post_init__(self) -> None:
        if not isinstance(self.title, str):  # there are many: nothing more is checked
            raise TypeError(f"Candidate.title must be a string, got {self.title!r:.60}")

    def __repr__(self) -> str:
        return f"Candidate({self.title!r}{_show(self, 'id', 'score', 'prior')})"


@dataclass(frozen=True, slots=True, repr=False)
class Link:
    """A mention and the entity it refers to; title None is NIL, and `reason` says why."""

    span: Span  # where the mention is
    title: str | None = None  # the unique name of the entity
    id: str | None = None  # of the entity, such as a Wikidata QID
    type: str | None = None  # of the entity: person, organization, place, ...
    description: str | None = None  # one line about the entity
    confidence: float | None = None  # probability that the link is correct
    reason: str | None = None  # why there is no link: no_candidate, below_confidence, ...
    source: str | None = None  # what proposed the mention: detector, dictionary, document or given
    mention_logit: float | None = None  # log-odds that a mention starts here
    mention_probability: float | None = None  # p(start) p(end | start) of the span
    candidates: tuple[Candidate, ...] = ()  # best first
    url: str | None = None  # the page of the entity
    extra: Mapping[str, Any] = field(default_factory=dict)  # unknown JSON fields, carried through

    def __post_init__(self) -> None:
        _want(self, "span", Span, "a Span, as in Span(0, 5)")
        _want_optional(self, ("title", "id", "type", "description", "reason", "source", "url"))
        if self.confidence is not None:
            _want(self, "confidence", float | int, "a number or None")

    @property
    def start(self) -> int:
        """Where the mention starts, in characters."""
        return self.span.start

    @property
    def end(self) -> int:
        """One past the mention's last character."""
        return self.span.end

    @property
    def entity(self) -> Entity | None:
        """The linked entity; None for a NIL."""
        if self.title is None:
            return None
        return Entity(self.title, self.id, self.type, self.description, self.url)

    def __repr__(self) -> str:
        return f"Link({self.start}, {self.end}, {self.title!r}{_show(self, 'id', 'type', 'confidence', 'reason')})"


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """A text and its links; iterating over it yields the links. Given `spans`, only these are disambiguated."""

    text: str  # what is linked
    id: str = ""  # your own name for it
    links: tuple[Link, ...] = ()  # in the order of the text, without overlaps
    spans: tuple[Span, ...] | None = None  # mentions that are already known; None: find them
    kb: str | None = None  # the knowledge base that the links point into
    error: str | None = None  # why it could not be linked, in a stream
    extra: Mapping[str, Any] = field(default_factory=dict)  # unknown JSON fields, carried through

    def __post_init__(self) -> None:
        _want(self, "text", str, "a string")
        _want(self, "id", str, "a string")
        _want_optional(self, ("kb", "error"))
        if not (isinstance(self.links, tuple | list) and all(isinstance(link, Link) for link in self.links)):
            raise TypeError(f"Document.links must be a tuple of Link, got {self.links!r:.60}")

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Document:
        """Make a document from a dict in the shape of parlink's JSON."""
        from parlink.data import jsonl

        return jsonl.from_json(dict(value) if isinstance(value, Mapping) else value)

    def to_dict(self) -> dict[str, Any]:
        """Return a dict in the shape of parlink's JSON; absent fields are left out."""
        from parlink.data import jsonl

        return jsonl.to_json(self)

    def to_json(self) -> str:
        """Return the document as one line of JSON, without a newline."""
        from parlink.data import jsonl

        return jsonl.encode(self).decode().removesuffix("\n")

    def surface(self, link: Link | Span) -> str:
        """Return the text of a link's or a span's mention."""
        if not isinstance(link, Link | Span):
            raise TypeError(f"surface wants a Link or a Span, got {link!r:.60}")
        return self.text[link.start : link.end]

    def to_html(self, path: Path | str | None = None) -> str:
        """Return an HTML page with the links in place, and write it to `path` if given."""
        from parlink.data import files
        from parlink.pages.linked_text import to_html

        if not isinstance(path, str | PathLike | None):
            raise TypeError(f"to_html writes to a path, a string or a Path, got {path!r:.60}")
        page = to_html(self)
        if path is not None:
            with files.open_output(path) as file:
                file.write(page.encode())
        return page

    def to_spacy(self, vocab: Vocab) -> Doc:
        """Return a spaCy Doc whose entities are the links; `ent._.parlink` is the whole `Link`."""
        from parlink.data.formats import docbin

        return docbin.to_doc(self, vocab)

    def __iter__(self) -> Iterator[Link]:
        return iter(self.links)

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= _SHOWN_TEXT else f"{self.text[: _SHOWN_TEXT - 3]}..."
        links = [f"{self.surface(link)!r}: {link.title!r}" for link in self.links[:_SHOWN_LINKS]]
        more = [f"{len(self.links) - _SHOWN_LINKS} more"] if len(self.links) > _SHOWN_LINKS else []
        shown = f", links={{{', '.join([*links, *more])}}}" if links else ""
        return f"Document({text!r}{_show(self, 'id', 'error')}{shown})"

    def _repr_html_(self) -> str:
        """Show the text with its links, as a notebook asks for it."""
        from parlink.pages.linked_text import to_fragment

        return to_fragment(self)


def _want(value: object, name: str, kind: type | UnionType, wanted: str) -> None:
    """Refuse a field that is of another type; a truth value is no number."""
    got = getattr(value, name)
    if not isinstance(got, kind) or isinstance(got, bool):
        raise TypeError(f"{type(value).__name__}.{name} must be {wanted}, got {got!r:.60}")


def _want_optional(value: object, names: Sequence[str]) -> None:
    """Refuse fields that are neither a string nor None."""
    for name in names:
        if getattr(value, name) is not None:
            _want(value, name, str, "a string or None")


def _show(value: object, *names: str) -> str:
    """Write the fields that are there, numbers in short, as the end of a `repr`."""
    fields = {name: getattr(value, name) for name in names}
    shown = {name: f"{field:.3g}" if isinstance(field, float) else repr(field) for name, field in fields.items()}
    return "".join(f", {name}={shown[name]}" for name, field in fields.items() if field not in (None, ""))
