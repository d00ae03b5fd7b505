"""`parlink export`: a model in fewer bits, with its knowledge base inside."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Width = Literal["6", "8", "16", "32"]
BITS: dict[Width, Literal[6, 8, 16, 32]] = {"6": 6, "8": 8, "16": 16, "32": 32}


def export(
    model: Annotated[Path, typer.Argument(help="Model folder.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to make.")],
    bits: Annotated[Width, typer.Option(help="Bits a weight; 6 and 8: with a scale per row.")] = "16",
    word_bits: Annotated[Width, typer.Option(help="The same for the tables of words.")] = "8",
    kb: Annotated[Path | None, typer.Option(help="Knowledge base to put inside, if not the model's own.")] = None,
    push: Annotated[str | None, typer.Option(help="Push it to the Hugging Face hub too, such as org/name.")] = None,
) -> None:
    """Copy a model in fewer bits. Its knowledge base comes along, so that one folder can be shipped."""
    from parlink.checkpoint.export import export as make
    from parlink.cli.bars import spinner

    with spinner("exporting"):
        folder = make(model, output, bits=BITS[bits], word_bits=BITS[word_bits], kb=kb)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{folder}: {size / 1e6:.1f} MB")
    if push is not None:
        from parlink.checkpoint.hub import push as push_to_hub

        print(f"{push}@{push_to_hub(folder, push)}")
