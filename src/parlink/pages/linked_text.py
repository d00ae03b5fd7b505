"""A linked document as one HTML page: links in place, what and why on hover, no script, nothing from outside."""

from __future__ import annotations

from dataclasses import dataclass

from parlink.pages import render
from parlink.pages.link_card import LinkCard, assign_slots, make_card
from parlink.types import Document, Link

# As in links.css, where they are variables: a notebook has styles of its own, which ours must not touch.
TYPE_COLORS = {
    "person": "#60a5fa",
    "place": "#fbbf24",
    "organization": "#fb7185",
    "event": "#fb923c",
    "work": "#a78bfa",
    "species": "#4ade80",
    "other": "#94a3b8",
}
COLOR = "#2dd4bf"  # of a type that is not among them


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the text: with a card it is a mention."""

    text: str
    card: LinkCard | None = None


def to_html(doc: Document) -> str:
    """Render a page; everything that comes from the text or the knowledge base is escaped."""
    pieces = cut(doc)
    slots = assign_slots(link.type for link in doc.links)
    return render("linked_text.html", doc=doc, pieces=pieces, slots=slots, entities=list_entities(doc))


def to_fragment(doc: Document) -> str:
    """Render the text with its links for a notebook: no styles or scripts but those of each element."""
    return render("notebook.html", doc=doc, pieces=cut(doc), colors=TYPE_COLORS, color=COLOR)


def list_entities(doc: Document) -> dict[str, list[Link]]:
    """Group the links by the title they lead to, in the order of the text."""
    entities: dict[str, list[Link]] = {}
    for link in sorted(doc.links, key=lambda link: link.span):
        if link.title is not None:
            entities.setdefault(link.title, []).append(link)
    return entities


def cut(doc: Document) -> list[Piece]:
    """Cut a text into mentions and what lies between them; of given spans that overlap, the first is shown."""
    pieces, at = [], 0
    for link in sorted(doc.links, key=lambda link: link.span):
        start, end = link.span.start, link.span.end
        if start < at:
            continue
        pieces += [Piece(doc.text[at:start]), Piece(doc.text[start:end], make_card(link))]
        at = end
    return [*pieces, Piece(doc.text[at:])]
