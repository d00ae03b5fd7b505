"""`parlink export`: a model in fewer bits or as ONNX graphs, with its knowledge base inside."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from parlink.errors import ConfigError

Format = Literal["safetensors", "onnx"]
Width = Literal["6", "8", "16", "32"]
BITS: dict[Width, Literal[6, 8, 16, 32]] = {"6": 6, "8": 8, "16": 16, "32": 32}


def export(
    model: Annotated[Path, typer.Argument(help="Model folder.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to make.")],
    format: Annotated[Format, typer.Option(help="Weights for torch, or graphs for onnxruntime.")] = "safetensors",
    bits: Annotated[
        Width | None, typer.Option(help="Bits per weight of safetensors (16); 6 and 8: with a scale per row.")
    ] = None,
    word_bits: Annotated[
        Width | None, typer.Option(help="Bits per word embedding (8; onnx: as few as lose nothing).")
    ] = None,
    kb: Annotated[Path | None, typer.Option(help="Knowledge base to put inside, if not the model's own.")] = None,
    push: Annotated[str | None, typer.Option(help="Push it to the Hugging Face hub too, such as org/name.")] = None,
) -> None:
    """Export a model in fewer bits or as ONNX. Its knowledge base comes along, so that one folder can be shipped."""
    from parlink.checkpoint import export as exports
    from parlink.cli.bars import spinner

    if format == "onnx" and bits is not None:
        raise ConfigError("--bits is for safetensors; graphs for onnxruntime are in float32")
    words = None if word_bits is None else BITS[word_bits]
    with spinner("exporting"):
        folder = (
            exports.export_onnx(model, output, word_bits=words, kb=kb)
            if format == "onnx"
            else exports.export(model, output, bits=BITS[bits or "16"], word_bits=words or 8, kb=kb)
        )
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{folder}: {size / 1e6:.1f} MB")
    if push is not None:
        from parlink.checkpoint.hub import push as push_to_hub

        print(f"{push}@{push_to_hub(folder, push)}")
