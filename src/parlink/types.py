"""The values that flow through parlink: spans, entities, candidates, links and documents.

What a person types at a prompt, such as `doc.to_html()`, leads to the function that does the work, and imports it then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

_SHOWN_TEXT, _SHOWN_LINKS = 60, 5  # of a document, by `repr`


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open character range `[start, end)` into a document's text."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"Span needs 0 <= start < end, got [{self.start}, {self.end})")

    def overlaps(self, other: Span) -> bool:
        """Whether the two ranges share a character."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Entity:
    """An entry of a knowledge base, known by its unique title."""

    title: str
    id: str | None = None
    type: str | None = None  # what kind of thing it is, as the knowledge base says it
    description: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Candidate:
    """An entity that a mention may refer to: the total score, its parts, and the look-up step that found it."""

    title: str
    id: str | None = None
    score: float | None = None  # the total that ranks candidates
    prior: float | None = None  # p(title | surface)
    lm: float | None = None  # length-normalized log-likelihood of the title; a usual one, if its name was not read
    classifier: float | None = None  # the discriminative correction, a raw logit
    similarity: float | None = None  # of the mention in its document and what is known of the entity
    overlap: float | None = None  # how much of the entity's description the text around speaks of
    differs: float | None = None  # 1 if the title is not the surface as it stands: "Apple Inc." of "Apple"
    coherence: float | None = None  # support by the other mentions of the document
    match_type: str | None = None  # by which look-up step the surface found it: exact, folded, ...
    url: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)  # unknown JSON fields, carried through

    def __repr__(self) -> str:
        return f"Candidate({self.title!r}{_show(self, 'id', 'score', 'prior')})"


@dataclass(frozen=True, slots=True, repr=False)
class Link:
    """A mention and the entity it refers to; title None is NIL, and `reason` says why."""

    span: Span
    title: str | None = None
    id: str | None = None
    type: str | None = None  # of the entity, as is its description, where the knowledge base knows them
    description: str | None = None
    confidence: float | None = None  # probability that the link is right
    reason: str | None = None
    source: str | None = None  # who proposed the mention: "detector", "dictionary", "document", or "given" with it
    mention_logit: float | None = None  # log-odds that a mention starts here
    mention_probability: float | None = None  # p(start) p(end | start) of the span
    candidates: tuple[Candidate, ...] = ()
    url: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def start(self) -> int:
        """Where the mention begins, in characters."""
        return self.span.start

    @property
    def end(self) -> int:
        """One past the mention's last character."""
        return self.span.end

    @property
    def entity(self) -> Entity | None:
        """The entity linked to, or None where there is none."""
        if self.title is None:
            return None
        return Entity(self.title, self.id, self.type, self.description, self.url)

    def __repr__(self) -> str:
        return f"Link({self.start}, {self.end}, {self.title!r}{_show(self, 'id', 'type', 'confidence', 'reason')})"


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """A text and its links, over which it iterates.

    Given `spans`, only these are disambiguated. `kb` names the knowledge base that the
    links point into, and `error` says why a document of a stream could not be linked.
    """

    text: str
    id: str = ""
    links: tuple[Link, ...] = ()
    spans: tuple[Span, ...] | None = None
    kb: str | None = None
    error: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise TypeError(f"the text of a document must be a string, got {self.text!r:.60}")

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Document:
        """Make a document of plain data in the shape of parlink's JSON; what is wrong with it is an error."""
        from parlink.data import jsonl

        return jsonl.from_json(dict(value) if isinstance(value, Mapping) else value)

    def to_dict(self) -> dict[str, Any]:
        """Turn the document into plain data in the shape of parlink's JSON; what is absent is left out."""
        from parlink.data import jsonl

        return jsonl.to_json(self)

    def to_json(self) -> str:
        """Write the document as one line of JSON, without the line end."""
        from parlink.data import jsonl

        return jsonl.encode(self).decode().removesuffix("\n")

    def surface(self, link: Link | Span) -> str:
        """Return the words of the text that a link or a span stands on."""
        return self.text[link.start : link.end]

    def to_html(self, path: Path | str | None = None) -> str:
        """Render a page with the links in place, and write it to `path` if there is one."""
        from parlink.data import files
        from parlink.pages.linked_text import to_html

        page = to_html(self)
        if path is not None:
            with files.open_output(path) as file:
                file.write(page.encode())
        return page

    def to_spacy(self, vocab: Vocab) -> Doc:
        """Turn the document into a Doc of spaCy: links are its entities, and `ent._.parlink` is the whole link."""
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


def _show(value: object, *names: str) -> str:
    """Write the fields that are there, numbers in short, as the end of a `repr`."""
    fields = {name: getattr(value, name) for name in names}
    shown = {name: f"{field:.3g}" if isinstance(field, float) else repr(field) for name, field in fields.items()}
    return "".join(f", {name}={shown[name]}" for name, field in fields.items() if field not in (None, ""))
