"""The options that all commands which link have in common, besides those of `LinkOptions` and `LoadOptions`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[
    Path | None, typer.Option("--model", help="Model folder; default: the model that comes with parlink.")
]
KbFolder = Annotated[Path | None, typer.Option("--kb", help="Knowledge base folder; default: the model's own.")]
