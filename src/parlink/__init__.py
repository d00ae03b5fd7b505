"""parlink: entity linking in parallel, to Wikipedia or to your own knowledge base."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from parlink.errors import ParlinkError
from parlink.types import Candidate, Document, Entity, Link, Span

if TYPE_CHECKING:
    from parlink.config import LinkOptions
    from parlink.integrations.pandas import docs_to_dataframe
    from parlink.kb import KnowledgeBase
    from parlink.linking.linker import Linker
    from parlink.quick import link

__all__ = [
    "Candidate",
    "Document",
    "Entity",
    "KnowledgeBase",
    "Link",
    "LinkOptions",
    "Linker",
    "ParlinkError",
    "Span",
    "docs_to_dataframe",
    "link",
]

# Imported when first used: torch alone takes over a second.
_LATER = {
    "KnowledgeBase": "parlink.kb",
    "LinkOptions": "parlink.config",
    "Linker": "parlink.linking.linker",
    "docs_to_dataframe": "parlink.integrations.pandas",
    "link": "parlink.quick",
}


def __dir__() -> list[str]:
    return [*__all__, "__version__"]  # what a prompt completes, before any of it is imported


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("parlink")
    if name not in _LATER:
        raise AttributeError(f"module 'parlink' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
