"""The very first line, `parlink.link("...")`: the model that comes with the package, opened once."""

from __future__ import annotations

from functools import cache
from typing import overload

from parlink.config import LinkOptions
from parlink.linking.linker import DEFAULT, AnyText, Linker, Text
from parlink.types import Document


@overload
def link(documents: Text, *, options: LinkOptions = DEFAULT) -> Document: ...


@overload
def link(documents: list[AnyText], *, options: LinkOptions = DEFAULT) -> list[Document]: ...


def link(documents: Text | list[AnyText], *, options: LinkOptions = DEFAULT) -> Document | list[Document]:
    """Link a text, a document or a list of these with the model that comes with parlink.

    The first call opens the model, which takes about two seconds. `Linker.load` has the choice of model, knowledge
    base and device.
    """
    return _open_linker().link(documents, options=options)


@cache
def _open_linker() -> Linker:
    return Linker.load()
