"""The fields of a settings struct that say what they mean: where commands, requests and pipes take options from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec


@dataclass(frozen=True, slots=True)
class StructField:
    """A field of a struct, its plain type, and what was said of it."""

    name: str
    kind: Any  # such as `float | None`
    default: Any
    meta: msgspec.Meta


def described_fields(kind: type[msgspec.Struct]) -> Iterator[StructField]:
    """Yield the fields that are annotated with a `msgspec.Meta`, in their order."""
    hints = get_type_hints(kind, include_extras=True)
    for field in msgspec.structs.fields(kind):
        plain, meta = _split(hints[field.name])
        if meta is not None:
            yield StructField(field.name, plain, field.default, meta)


def _split(hint: Any) -> tuple[Any, msgspec.Meta | None]:
    """The plain type of a field and what was said of it, if anything; `Annotated[T, meta] | None` is an optional T."""
    if get_origin(hint) is Annotated:
        plain, meta, *_ = get_args(hint)
        return plain, meta
    annotated = next((part for part in get_args(hint) if get_origin(part) is Annotated), None)
    if annotated is None:
        return hint, None
    plain, meta = _split(annotated)
    return plain | None, meta
