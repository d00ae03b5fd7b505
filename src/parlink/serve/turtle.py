"""GERBIL's annotator protocol: NIF contexts in, the same contexts with linked phrases out, both Turtle.

A context without phrases is annotated (A2KB). One that comes with phrases gets these disambiguated (D2KB).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fastapi import HTTPException

from parlink.data.formats import nif
from parlink.errors import DataFormatError
from parlink.serve.intake import check_document
from parlink.serve.settings import Settings
from parlink.types import Document

KINDS = ("application/x-turtle", "text/turtle")  # the first is what GERBIL sends


def decode(raw: bytes, settings: Settings) -> list[Document]:
    """Read the documents of a request."""
    try:
        docs = nif.decode(raw, name="body")
    except DataFormatError as error:
        raise HTTPException(400, str(error)) from error
    if not docs:
        raise HTTPException(422, "the body has no nif:Context with a nif:isString; send one")
    if len(docs) > settings.waiting:
        raise HTTPException(413, f"{len(docs)} contexts; send at most {settings.waiting} at a time")
    return [_strip_answer(doc, settings) for doc in docs]


def encode(linked: Sequence[Document], *, confidence: bool) -> bytes:
    """Write the answer; found mentions without an entity are left out, given ones never."""
    return nif.encode(_shape_answer(doc, confidence=confidence) for doc in linked)


def _strip_answer(doc: Document, settings: Settings) -> Document:
    spans = tuple(dict.fromkeys(link.span for link in doc.links)) or None
    return check_document(Document(doc.text, doc.id, spans=spans), doc.id or "document", settings)


def _shape_answer(doc: Document, *, confidence: bool) -> Document:
    links = [link for link in doc.links if link.title is not None or doc.spans is not None]
    return replace(doc, links=tuple(link if confidence else replace(link, confidence=None) for link in links))
