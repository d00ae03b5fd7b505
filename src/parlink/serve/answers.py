"""Answers: values as JSON, and refusals in words."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import msgspec
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from parlink.data import jsonl
from parlink.errors import ParlinkError
from parlink.types import Document, Entity

RETRY = {"Retry-After": "1"}  # of a refusal that may not be one a second later


def answer_json(value: Any, *, status: int = 200) -> Response:
    """Answer with plain data."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def answer_entity(entity: Entity, *, status: int = 200) -> Response:
    """Answer with an entity."""
    return answer_json({name: value for name, value in asdict(entity).items() if value is not None}, status=status)


def encode_document(doc: Document) -> dict[str, Any]:
    """Turn a linked document into plain data; what JSON cannot hold is an error of this document."""
    try:
        return {"links": []} | jsonl.to_json(doc)
    except ParlinkError as error:
        return {"text": doc.text, "id": doc.id, "error": str(error)}


def refuse(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """Make the answer to a request that is not served."""
    return JSONResponse({"error": message}, status, headers)


async def answer_http_error(request: Request, error: Exception) -> Response:
    """Answer where a route raises an HTTPException."""
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:  # the router names the methods of one route only
        methods = request.app.openapi()["paths"].get(request.url.path, ("get",))
        names = [method.upper() for method in methods]
        headers["Allow"] = ", ".join([*names, "HEAD"] if "GET" in names else names)
    return refuse(error.status_code, str(error.detail), headers)


async def answer_wrong_parameter(request: Request, error: Exception) -> Response:
    """Answer where a parameter is unknown or has a wrong value."""
    assert isinstance(error, RequestValidationError)
    faults = [f"{'.'.join(map(str, fault['loc'][1:]))}: {fault['msg']}" for fault in error.errors()]
    return refuse(422, f"parameters: {'; '.join(faults)}")
