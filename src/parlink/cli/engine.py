"""The options `--engine` and `--address`: who does what can be done a piece at a time."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from parlink.data.parallel import Engine

ENGINE = typer.Option("--engine", help="Run in processes on this machine, or on Ray.")
ADDRESS = typer.Option("--address", help="Address of the Ray cluster; default: a local one.")


class EngineName(StrEnum):
    """Who does the pieces."""

    PROCESSES = "processes"
    RAY = "ray"


def choose_engine(name: EngineName, workers: int, address: str | None) -> Engine | None:
    """Return what maps on Ray, or None: processes of this machine."""
    if name is EngineName.PROCESSES:
        return None
    from parlink.integrations.ray import ray_engine

    return ray_engine(workers=workers, address=address)
