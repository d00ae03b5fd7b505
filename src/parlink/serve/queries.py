"""The parameters of requests; an unknown one is an error that names it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import msgspec
from fastapi import HTTPException
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.json_schema import SkipJsonSchema

from parlink.config import LinkOptions
from parlink.errors import ConfigError
from parlink.linking.linker import DEFAULT
from parlink.serve.settings import Settings
from parlink.struct_fields import StructField, described_fields


def upper_bounds(settings: Settings) -> dict[str, int]:
    """Return the most that a parameter may be, of those of which the service has a limit."""
    return {"beams": settings.most_beams, "max_candidates": settings.most_candidates}


def check_defaults(options: LinkOptions, settings: Settings) -> None:
    """Refuse a service that does of itself what no request may ask of it."""
    for name, most in upper_bounds(settings).items():
        if (number := getattr(options, name)) > most:
            option, limit = f"--{name.replace('_', '-')}", f"--most-{name.removeprefix('max_')}"
            raise ConfigError(
                f"{option} is {number}, and requests may ask for at most {most}; give {limit} {number}, too"
            )


TOP = 5  # as `parlink link` has it
LEAST_MENTION_THRESHOLD = -10.0  # lower, every word is a mention
Truth = Literal["true", "false"]


class _Query(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _make_parameters() -> dict[str, Any]:
    """Make a parameter of each option that says what it means, with its bounds and its default."""
    return {field.name: (_make_kind(field), _make_field(field)) for field in described_fields(LinkOptions)}


def _make_kind(field: StructField) -> Any:
    """Return the type of a parameter: truth is a word, numbers are finite, and what may be left out cannot be null."""
    kinds = get_args(field.kind) if field.default is None else (field.kind,)
    least = LEAST_MENTION_THRESHOLD if field.name == "mention_threshold" else field.meta.ge
    bounds = Field(ge=least, le=field.meta.le, allow_inf_nan=False if kinds[0] is float else None)
    kind: Any = Truth if kinds[0] is bool else Annotated[kinds[0], bounds]
    return kind | SkipJsonSchema[None] if field.default is None else kind  # type: ignore[misc]


def _make_field(field: StructField) -> Any:
    default = str(field.default).lower() if isinstance(field.default, bool) else field.default
    return Field(default, description=field.meta.description)


_LinkParameters: Any = create_model("LinkQuery", __base__=_Query, **_make_parameters())


class OptionQuery(_LinkParameters):  # type: ignore[misc]  # a base that is made
    """How to link; what is left out is as the service was told, or has the value tuned for the model."""

    overlaps: Literal["resolve", "keep"] = Field("resolve", description="Disjoint mentions, or all that are found.")

    def make_options(self, settings: Settings, defaults: LinkOptions = DEFAULT) -> LinkOptions:
        """Return the same as the linker's options, within the limits of the service."""
        words = {"true": True, "false": False}
        asked = self.model_dump(include=set(LinkOptions.__struct_fields__), exclude_unset=True)
        for name, most in upper_bounds(settings).items():
            if (number := asked.get(name, 0)) > most:
                raise HTTPException(422, f"parameters: {name}: {number}; at most {most}")
        return msgspec.structs.replace(defaults, **{name: words.get(value, value) for name, value in asked.items()})


class LinkQuery(OptionQuery):
    """How to link, and how much of it to answer."""

    top: int = Field(TOP, description="Candidates listed for each link.", ge=0)


class NifQuery(OptionQuery):
    """How to link, and what the answer holds."""

    confidence: Truth = Field("false", description="Write itsrdf:taConfidence, over which GERBIL sweeps a threshold.")


class TitleQuery(_Query):
    """Which entity."""

    title: str = Field(description="Title of the entity.", min_length=1, examples=["Kent"])
