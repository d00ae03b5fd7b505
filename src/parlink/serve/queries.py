"""The parameters of requests; an unknown one is an error that names it."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import HTTPException
from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from parlink.config import LinkOptions
from parlink.serve.settings import Settings


def upper_bounds(settings: Settings) -> dict[str, int]:
    """Return the most that a parameter may be, of those of which the service has a limit."""
    return {"beams": settings.max_beams, "max_candidates": settings.max_candidates}


Number = Annotated[float, Field(allow_inf_nan=False)]
Threshold = Annotated[float, Field(allow_inf_nan=False, ge=-10)]  # lower, every word is a mention
Truth = Literal["true", "false"]


class _Query(BaseModel):
    model_config = ConfigDict(extra="forbid")


class LinkQuery(_Query):
    """How to link; what is left out has the value tuned for the model."""

    mention_threshold: Threshold | SkipJsonSchema[None] = Field(
        None, description="Least log-odds that a mention starts."
    )
    min_confidence: Annotated[float, Field(ge=0, le=1)] | SkipJsonSchema[None] = Field(
        None, description="Least probability that a link is right."
    )
    score_threshold: Number | SkipJsonSchema[None] = Field(None, description="Least score of the best candidate.")
    search: Literal["rank", "beam"] = Field("rank", description="Score every candidate, or search by beam.")
    beams: int = Field(5, ge=1, description="Width of the beam.")
    fallback: Truth | SkipJsonSchema[None] = Field(None, description="Search all titles for want of candidates.")
    max_candidates: int = Field(30, ge=1, description="Candidates of a mention.")
    overlaps: Literal["resolve", "keep"] = Field("resolve", description="Disjoint mentions, or all that are found.")

    def make_options(self, settings: Settings) -> LinkOptions:
        """Return the same as the linker's options, within the limits of the service."""
        for name, most in upper_bounds(settings).items():
            if getattr(self, name) > most:
                raise HTTPException(422, f"parameters: {name}: {getattr(self, name)}; at most {most}")
        fallback = None if self.fallback is None else self.fallback == "true"
        return LinkOptions(**self.model_dump(exclude={"fallback"}), fallback=fallback)


class NifQuery(_Query):
    """What the answer holds."""

    confidence: Truth = Field("false", description="Write itsrdf:taConfidence, over which GERBIL sweeps a threshold.")


class TitleQuery(_Query):
    """Which entity."""

    title: str = Field(description="Title of the entity.", min_length=1, examples=["Kent"])
