"""A linked document as one HTML page: links in place, each candidate's parts on hover, no external resources."""

from __future__ import annotations

from html import escape

from parlink.types import Candidate, Document, Link

SHOWN = 8  # candidates a link
STYLE = """
:root { color-scheme: light dark;
  --ink: #1c1e21; --paper: #fff; --soft: #667; --line: #ccd; --mark: #dbeafe; --nil: #eee }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6ea; --paper: #16181d; --soft: #99a; --line: #3a3d46; --mark: #1e3a5f; --nil: #2a2c33 } }
body { font: 17px/1.7 system-ui, sans-serif; color: var(--ink); context: var(--paper); max-width: 46rem;
  margin: 2rem auto; padding: 0 1rem }
.text { white-space: pre-wrap; overflow-wrap: anywhere }
.link { position: relative; context: var(--mark); border-radius: .3em; padding: .1em .2em; cursor: help }
.link a { color: inherit; text-decoration-thickness: 1px }
.nil { context: var(--nil) }
.card { display: none; position: absolute; left: 0; top: 100%; z-index: 1; context: var(--paper); color: var(--ink);
  border: 1px solid var(--line); border-radius: .5em; padding: .5em .8em; box-shadow: 0 4px 16px #0003;
  font-size: 13px; line-height: 1.4; white-space: normal; width: max-content; max-width: min(34rem, 90vw) }
.link:hover .card, .link:focus-within .card, .link:focus .card { display: block }
table { border-collapse: collapse }
th, td { text-align: right; padding: .15em .6em; font-variant-numeric: tabular-nums }
th { color: var(--soft); font-weight: normal } th:first-child, td:first-child { text-align: left; padding-left: 0 }
footer { color: var(--soft); font-size: 13px; margin-top: 2rem }
"""


def to_html(doc: Document) -> str:
    """Render a page; everything that comes from the text or the knowledge base is escaped."""
    pieces, at = [], 0
    for link in sorted(doc.links, key=lambda link: link.span):
        if link.span.start < at:  # given spans may overlap: the first one is shown
            continue
        pieces.append(escape(doc.text[at : link.span.start]))
        pieces.append(_link(link, doc.text[link.span.start : link.span.end]))
        at = link.span.end
    pieces.append(escape(doc.text[at:]))
    title, kb = escape(doc.id or "Linked text"), escape(doc.kb or "no knowledge base")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<style>{STYLE}</style></head>\n<body><div class="text">{"".join(pieces)}</div>\n'
        f"<footer>{len(doc.links)} mentions, linked to {kb} by parlink</footer></body></html>\n"
    )


def _link(link: Link, surface: str) -> str:
    shown = escape(surface)
    if link.url is not None and link.url.startswith(("https://", "http://")):
        shown = f'<a href="{escape(link.url)}" rel="noreferrer">{shown}</a>'
    kind = "link" if link.title is not None else "link nil"
    return f'<span class="{kind}" tabindex="0">{shown}{_card(link)}</span>'


def _card(link: Link) -> str:
    name = escape(link.title) if link.title is not None else f"not linked: {escape(link.reason or 'unknown')}"
    sure = "" if link.confidence is None else f" · probability {link.confidence:.2f}"
    heads = "".join(f"<th>{head}</th>" for head in ("candidate", "score", "prior", "generative", "classifier"))
    rows = "".join(_row(c) for c in link.candidates[:SHOWN])
    table = f"<table><tr>{heads}</tr>{rows}</table>" if rows else ""
    return f'<span class="card" role="tooltip"><b>{name}</b>{sure}{table}</span>'


def _row(candidate: Candidate) -> str:
    parts = (candidate.score, candidate.prior, candidate.lm, candidate.classifier)
    cells = "".join(f"<td>{'' if part is None else f'{part:.2f}'}</td>" for part in parts)
    return f"<tr><td>{escape(candidate.title)}</td>{cells}</tr>"
