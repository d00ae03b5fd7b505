"""Take a request in: its body within the limits, its documents as values, and whether its client is still there."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import msgspec
from fastapi import HTTPException, Request
from starlette.requests import ClientDisconnect

from parlink.data import jsonl
from parlink.errors import DataFormatError
from parlink.serve.guard import CLIENT_GONE
from parlink.serve.settings import Settings
from parlink.types import Candidate, Document

T = TypeVar("T")


async def read_body(request: Request, settings: Settings, *, kinds: Sequence[str]) -> bytes:
    """Read a body of one of the media types, in UTF-8, up to the limits of size and time."""
    _check_kind(request, kinds)
    too_large = HTTPException(413, f"the body has more than {settings.body_bytes} bytes; send less at a time")
    if int(request.headers.get("content-length", "0")) > settings.body_bytes:
        raise too_large
    parts = bytearray()
    try:
        async with asyncio.timeout(settings.body_seconds):
            async for part in request.stream():
                parts += part
                if len(parts) > settings.body_bytes:
                    raise too_large
    except TimeoutError as error:
        raise HTTPException(408, f"the body did not arrive within {settings.body_seconds:g} s") from error
    except ClientDisconnect as error:
        raise HTTPException(CLIENT_GONE, "the client went away") from error
    return bytes(parts)


def _check_kind(request: Request, kinds: Sequence[str]) -> None:
    kind, *parameters = [part.strip().lower() for part in request.headers.get("content-type", "").split(";")]
    wrong = [part for part in parameters if part.replace('"', "") not in ("charset=utf-8", "charset=utf8", "")]
    if kind not in kinds or wrong:
        raise HTTPException(415, f"wanted a body of type {' or '.join(kinds)}, in UTF-8")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise HTTPException(415, "compressed bodies are not taken; send it as it is")


async def await_in_time(request: Request, work: Coroutine[Any, Any, T], settings: Settings) -> T:
    """Await work until it is done, its time is over, or its client goes away; the latter two cancel it."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_wait_for_hangup(request))
    try:
        await asyncio.wait({task, gone}, timeout=settings.seconds, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if gone.done():
            raise HTTPException(CLIENT_GONE, "the client went away")
        raise HTTPException(504, f"there was no answer within {settings.seconds:g} s; send less, or try again later")
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _wait_for_hangup(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def decode_json(raw: bytes) -> Any:
    """Decode JSON."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise HTTPException(400, f"the body is not JSON in UTF-8: {error}") from error


def parse_documents(value: Any, settings: Settings) -> list[Document]:
    """Turn the JSON of one document or of a list of them into documents that are fit to be linked."""
    values = value if isinstance(value, list) else [value]
    if len(values) > settings.waiting:
        raise HTTPException(413, f"{len(values)} documents; send at most {settings.waiting} at a time")
    names = [f"document {index}" for index in range(len(values))] if isinstance(value, list) else ["the document"]
    return [_parse_document(each, name, settings) for each, name in zip(values, names, strict=True)]


def _parse_document(value: Any, name: str, settings: Settings) -> Document:
    try:
        doc = jsonl.from_json(_make_bounds_whole(value), path=name)
    except DataFormatError as error:
        raise HTTPException(422, str(error)) from error
    for link in doc.links:
        for candidate in link.candidates:
            _check_candidate(candidate, name, settings)
    return check_document(doc, name, settings)


def _make_bounds_whole(value: Any) -> Any:
    """The same document with 3 for 3.0 where spans begin and end: some clients write all numbers so."""
    if not isinstance(value, dict):
        return value
    lists = {name: value[name] for name in ("links", "spans") if isinstance(value.get(name), list)}
    return value | {name: [_make_bound_whole(item) for item in items] for name, items in lists.items()}


def _make_bound_whole(value: Any) -> Any:
    if isinstance(value, dict):
        return value | {name: make_whole(value[name]) for name in ("start", "end") if name in value}
    return [make_whole(bound) for bound in value] if isinstance(value, list) else value


def make_whole(number: Any) -> Any:
    """Return 3 for 3.0, which JSON does not tell apart, and anything else as it is."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _check_candidate(candidate: Candidate, name: str, settings: Settings) -> None:
    if not candidate.title.strip():
        raise HTTPException(422, f"{name}: a candidate has an empty title")
    if len(candidate.title) > settings.title_characters:
        limit = f"at most {settings.title_characters} are taken"
        raise HTTPException(413, f"{name}: the title of a candidate has {len(candidate.title)} characters; {limit}")
    if candidate.prior is not None and not 0 <= candidate.prior <= 1:
        raise HTTPException(422, f"{name}: the prior of a candidate is {candidate.prior:g}; wanted 0 to 1")


def check_document(doc: Document, name: str, settings: Settings) -> Document:
    """The document as a question: within the limits, and without the answer of another time."""
    if len(doc.text) > settings.text_characters:
        limit = f"at most {settings.text_characters:,} are taken; cut it up"
        raise HTTPException(413, f"{name}: the text has {len(doc.text):,} characters; {limit}")
    if max(len(doc.spans or ()), len(doc.links)) > settings.max_spans:
        raise HTTPException(413, f"{name}: more than {settings.max_spans} spans; cut the text up")
    return replace(doc, kb=None, error=None)
