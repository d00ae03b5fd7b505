"""The OpenAPI description of the service, under the limits of its settings."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from parlink.config import LinkOptions
from parlink.serve import schemas
from parlink.serve.queries import upper_bounds
from parlink.serve.settings import Settings
from parlink.serve.turnstile import OPEN_PATHS
from parlink.struct_fields import described_fields


def describe(app: FastAPI, settings: Settings, options: LinkOptions) -> dict[str, Any]:
    """Describe routes, bodies, limits and keys; made once."""
    if app.openapi_schema is None:
        description = get_openapi(title="parlink", version="1", routes=app.routes, summary="Entity linking")
        description.setdefault("components", {})["schemas"] = schemas.describe_bodies(settings)
        _describe_bounds(description, settings)
        _describe_defaults(description, options)
        _describe_keys(description, settings)
        app.openapi_schema = description
    return app.openapi_schema


def _describe_bounds(description: dict[str, Any], settings: Settings) -> None:
    """Write the limits of the service beside the parameters that they bound."""
    bounds = {name: {"maximum": most} for name, most in upper_bounds(settings).items()}
    bounds["title"] = {"maxLength": settings.title_characters}
    for operation in (operation for path in description["paths"].values() for operation in path.values()):
        for parameter in operation.get("parameters", ()):
            parameter["schema"] |= bounds.get(parameter["name"], {})


def _describe_defaults(description: dict[str, Any], options: LinkOptions) -> None:
    """Write beside the parameters of linking what they are where a request leaves them out."""
    defaults = {field.name: getattr(options, field.name) for field in described_fields(LinkOptions)}
    for operation in (operation for path in description["paths"].values() for operation in path.values()):
        for parameter in operation.get("parameters", ()):
            default = defaults.get(parameter["name"], ...)
            if default is None:
                parameter["description"] += " Default: the value tuned for the model."
            elif default is not ...:
                parameter["schema"]["default"] = str(default).lower() if isinstance(default, bool) else default


def _describe_keys(description: dict[str, Any], settings: Settings) -> None:
    """Say how a key is given, and which routes need none."""
    if settings.api_key is None:
        return
    description["components"]["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    }
    description["security"] = [{"bearer": []}, {"header": []}]
    for path in OPEN_PATHS & description["paths"].keys():
        for operation in description["paths"][path].values():
            operation["security"] = []
