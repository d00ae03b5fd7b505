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
from parlink.data.brief import keep_top, round_numbers
from parlink.errors import ParlinkError
from parlink.types import Document, Entity

RETRY = {"Retry-After": "1"}  # of a refusal that may not be one a second later
NOT_FOUND = HTTPException(404).detail  # what the router says where there is no route
_UNKNOWN = "there is no such parameter here; those that there are stand at /docs"


def answer_json(value: Any, *, status: int = 200) -> Response:
    """Answer with plain data."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def answer_entity(entity: Entity, *, status: int = 200) -> Response:
    """Answer with an entity."""
    return answer_json({name: value for name, value in asdict(entity).items() if value is not None}, status=status)


def encode_document(doc: Document, *, top: int) -> dict[str, Any]:
    """Turn a linked document into plain data, in brief; what JSON cannot hold is an error of this document."""
    try:
        value = jsonl.to_json(round_numbers(keep_top(doc, top)))
    except ParlinkError as error:
        return {"text": doc.text, "id": doc.id, "error": str(error)}
    value.setdefault("links", [])
    return value


def refuse(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """Make the answer to a request that is not served."""
    return JSONResponse({"error": message}, status, headers)


async def answer_http_error(request: Request, error: Exception) -> Response:
    """Answer where a route raises an HTTPException."""
    assert isinstance(error, HTTPException)
    headers, message, path = dict(error.headers or {}), str(error.detail), request.url.path
    if error.status_code == 405:  # the router names the methods of one route only
        methods = request.app.openapi()["paths"].get(path, ("get",))
        names = [method.upper() for method in methods]
        headers["Allow"] = ", ".join([*names, "HEAD"] if "GET" in names else names)
        message = f"{path:.100} does not take {request.method}; it takes {headers['Allow']}"
    elif message == NOT_FOUND:
        message = f"there is no {path:.100} here; the routes stand at /docs"
    return refuse(error.status_code, message, headers)


async def answer_wrong_parameter(request: Request, error: Exception) -> Response:
    """Answer where a parameter is unknown or has a wrong value."""
    assert isinstance(error, RequestValidationError)
    return refuse(422, f"parameters: {'; '.join(map(_describe_fault, error.errors()))}")


def _describe_fault(fault: dict[str, Any]) -> str:
    name = ".".join(map(str, fault["loc"][1:]))
    return f"{name}: {_UNKNOWN if fault['type'] == 'extra_forbidden' else fault['msg']}"
