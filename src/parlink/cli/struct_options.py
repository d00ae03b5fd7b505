"""Options of a command from the fields of a settings struct, so that both have the same names, bounds and defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import msgspec
import typer

from parlink.struct_fields import described_fields

DEVICE = typer.Option("--device", help="Where the model runs: cpu, cuda, cuda:N, or auto for the best there is.")


def add_options(kind: type[msgspec.Struct]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Turn a function of a struct and further options into a command that has an option for each annotated field."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        parameters = list(_make_parameters(kind))

        def command(**given: Any) -> None:
            settings = kind(**{parameter.name: given.pop(parameter.name) for parameter in parameters})
            function(settings, **given)

        further = list(signature(function, eval_str=True).parameters.values())[1:]
        keyword_only = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in further]
        command.__signature__ = Signature([*keyword_only, *parameters])  # type: ignore[attr-defined]
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
