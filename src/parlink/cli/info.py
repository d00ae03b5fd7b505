"""`parlink info`: what a model or a config is made of."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def info(
    source: Annotated[
        Path | None,
        typer.Argument(help="A model folder, or a training config (TOML); default: the model that comes with parlink."),
    ] = None,
    layers: Annotated[int | None, typer.Option(help="Count only this many layers of the encoder.")] = None,
    verify: Annotated[bool, typer.Option(help="Read the whole model folder and check every file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the parameters and size of each part of a model."""
    import msgspec

    from parlink.checkpoint.config_file import packaged_model
    from parlink.checkpoint.describe import describe
    from parlink.linking.batch_tokens import choose_batch_tokens, last_cache
    from parlink.model_config import EncoderConfig

    facts = describe(source or packaged_model(), layers=layers)
    if verify:
        _check(source or packaged_model())
    if as_json:
        print(msgspec.json.format(msgspec.json.encode(facts), indent=2).decode())
        return
    for name, value in facts["model"].items():
        print(f"{name:>20}  {value}")
    tokens = choose_batch_tokens(msgspec.convert(facts["model"]["encoder"], EncoderConfig), cache=last_cache())
    print(f"{'tokens of a batch':>20}  {tokens}, by the cache of this machine")
    for part, count in facts["parameters"].items():
        print(f"{part:>20}  {count:>13,} parameters")


def _check(folder: Path) -> None:
    from parlink.checkpoint.verify import verify
    from parlink.cli.bars import spinner

    with spinner("reading every file"):
        whole = verify(folder)
    state = "every file is as it was written" if whole else "can be read, but holds no checksums"
    print(f"{folder}: {state}", file=sys.stderr)
