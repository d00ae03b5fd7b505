"""Options of a command from the fields of a settings struct, so that both have the same names, bounds and defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter, Signature, signature
from itertools import chain
from typing import Annotated, Any

import msgspec
import typer

from parlink.struct_fields import described_fields


def add_options(*kinds: type[msgspec.Struct]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Turn a function of structs and further options into a command that has an option for each annotated field."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        parameters = {kind: list(_make_parameters(kind)) for kind in kinds}

        def command(**given: Any) -> None:
            settings = [
                kind(**{parameter.name: given.pop(parameter.name) for parameter in fields})
                for kind, fields in parameters.items()
            ]
            function(*settings, **given)

        further = list(signature(function, eval_str=True).parameters.values())[len(kinds) :]
        keyword_only = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in further]
        command.__signature__ = Signature([*keyword_only, *chain(*parameters.values())])  # type: ignore[attr-defined]
        command.__name__, command.__doc__, command.__annotations__ = function.__name__, function.__doc__, {}
        return command

    return decorate


def _make_parameters(kind: type[msgspec.Struct]) -> Iterator[Parameter]:
    for field in described_fields(kind):
        name, meta = f"--{field.name.replace('_', '-')}", field.meta
        flags = (f"{name}/--no-{name[2:]}",) if field.default is None and field.kind == bool | None else (name,)
        env = (meta.extra or {}).get("env")
        option = typer.Option(*flags, min=meta.ge, max=meta.le, help=meta.description, envvar=env)
        annotation: Any = Annotated[field.kind, option]
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=annotation)
