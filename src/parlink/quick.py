"""The very first line, `parlink.link("...")`: the model that comes with the package, opened once."""

from __future__ import annotations

from functools import cache
from typing import Any, overload

from parlink.config import LinkOptions
from parlink.linking.linker import DEFAULT, AnyText, Linker, Text
from parlink.types import Document


@overload
def link(documents: Text, *, options: LinkOptions = DEFAULT, **fields: Any) -> Document: ...


@overload
def link(documents: list[AnyText], *, options: LinkOptions = DEFAULT, **fields: Any) -> list[Document]: ...


def link(
    documents: Text | list[AnyText], *, options: LinkOptions = DEFAULT, **fields: Any
) -> Document | list[Document]:
    """Link a text, a document or a list of these with the model that comes with parlink.

    The first call opens the model, which takes about two seconds. `Linker.load` has the choice of model, knowledge
    base and device. `fields` are those of `LinkOptions`: `link(text, min_confidence=0.5)`.
    """
    return _open_linker().link(documents, options=options, **fields)


@cache
def _open_linker() -> Linker:
    return Linker.load()
