"""Where and how precisely a model computes: options of every command that links."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from parlink.struct_checks import check_fields

Precision = Literal["float32", "bfloat16", "int8"]
_DEVICE = msgspec.Meta(description="Where the model runs: cpu, cuda, cuda:N, or auto (CUDA if available).")
_PRECISION = msgspec.Meta(description="Numeric precision. Default: float32; bfloat16 on a GPU that supports it.")


class LoadOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to open a model."""

    device: Annotated[str, _DEVICE] = "auto"
    precision: Annotated[Precision, _PRECISION] | None = None

    def __post_init__(self) -> None:
        check_fields(self)


DEFAULT_LOAD = LoadOptions()
