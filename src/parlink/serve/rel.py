"""REL's HTTP protocol: a text and spans in, a list of mentions with their entities out.

A span is `[start, length]`, or an object with the two in that order, as GERBIL sends it. Without spans, mentions are
detected. Of each mention that is linked the answer has `[start, length, mention, title, confidence, mention confidence,
tag]`, the title with underscores and the tag `NULL` where there is none. `&amp;` in a text is read as `&`, as REL does.
"""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import HTTPException

from parlink.data.brief import round_numbers
from parlink.serve.intake import check_document, make_whole
from parlink.serve.settings import Settings
from parlink.types import Document, Link, Span

STATUS = {"schemaVersion": 1, "label": "status", "message": "up", "color": "green"}
QUESTION = {"text": "Kent play Leicester at home on Saturday.", "spans": []}
ANSWER = [[0, 4, "Kent", "Kent_County_Cricket_Club", 0.91, 0.95, "NULL"]]
Row = tuple[int, int, str, str, float, float, str]


class _Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a client of REL sends; which of REL's taggers it wants is not heard, as there is one detector."""

    text: str
    spans: list[list[int] | dict[str, int]] | None = None
    tagger: str | None = None


def parse_question(value: Any, settings: Settings) -> Document:
    """Turn JSON into a document that is fit to be linked."""
    if isinstance(value, dict) and isinstance(value.get("spans"), list):
        value = value | {"spans": [_make_span_whole(span) for span in value["spans"]]}
    try:
        question = msgspec.convert(value, _Question)
    except msgspec.ValidationError as error:
        raise HTTPException(422, f"the body: {error}") from error
    text = question.text.replace("&amp;", "&")
    spans = tuple(_parse_span(span, text) for span in question.spans or ())
    return check_document(Document(text, spans=spans or None), "the document", settings)


def _make_span_whole(span: Any) -> Any:
    if isinstance(span, dict):
        return {name: make_whole(number) for name, number in span.items()}
    return [make_whole(number) for number in span] if isinstance(span, list) else span


def _parse_span(span: list[int] | dict[str, int], text: str) -> Span:
    numbers = list(span.values()) if isinstance(span, dict) else span
    if len(numbers) != 2 or numbers[0] < 0 or numbers[1] < 1 or sum(numbers) > len(text):
        wanted = f"wanted [start, length] within a text of {len(text)} characters"
        raise HTTPException(422, f"the body: a span is {numbers}; {wanted}")
    start, length = numbers
    return Span(start, start + length)


def shape_answer(doc: Document) -> list[Row]:
    """List the mentions that are linked, as REL does."""
    return [_make_row(doc, link, link.title) for link in round_numbers(doc).links if link.title is not None]


def _make_row(doc: Document, link: Link, title: str) -> Row:
    start, end = link.span.start, link.span.end
    confidences = (link.confidence or 0.0, link.mention_probability or 0.0)
    return (start, end - start, doc.text[start:end], title.replace(" ", "_"), *confidences, link.type or "NULL")
