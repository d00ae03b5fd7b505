"""Make a model folder that travels: narrow weights, or graphs for onnxruntime, and the knowledge base inside."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Protocol

from parlink.checkpoint.config_file import own_kb
from parlink.checkpoint.folder import Checkpoint, load_checkpoint, write_checkpoint
from parlink.checkpoint.quantize import Bits
from parlink.checkpoint.recovery import replacing
from parlink.errors import CheckpointError
from parlink.kb import copy_kb


class Write(Protocol):
    """Writes a model into a folder."""

    def __call__(self, folder: Path, checkpoint: Checkpoint, *, card: str) -> None:
        """Write its files, and a card."""
        ...


def export(
    model: Path | str,
    output: Path | str,
    *,
    bits: Bits = 16,
    word_bits: Bits = 8,
    kb: Path | str | None = None,
) -> Path:
    """Copy a model, its card and its tuned values, with weights of fewer bits and the knowledge base it links to."""
    write = partial(write_checkpoint, bits=bits, word_bits=word_bits)
    return _export(Path(model), Path(output), write, kb=kb)


def export_onnx(
    model: Path | str,
    output: Path | str,
    *,
    word_bits: Bits | None = None,
    kb: Path | str | None = None,
) -> Path:
    """Copy a model as graphs for onnxruntime; `word_bits` None: the fewest in which no word is changed."""
    from parlink.checkpoint.onnx_export import write_onnx

    write = partial(write_onnx, word_bits=word_bits)
    return _export(Path(model), Path(output), write, kb=kb)


def _export(source: Path, target: Path, write: Write, *, kb: Path | str | None) -> Path:
    if target.exists() and not target.is_dir():
        raise CheckpointError(f"{target}: a file; give the name of a folder to make")
    if target.exists() and any(target.iterdir()):
        raise CheckpointError(f"{target}: there already, and not empty; give another folder, or remove this one")
    checkpoint, card = load_checkpoint(source), source / "README.md"
    base = own_kb(source) if kb is None else Path(kb)
    for folder in (source,) if base is None else (source, base):
        _refuse_links_out(folder)
    with replacing(target) as temporary:
        write(temporary, checkpoint, card=card.read_text() if card.is_file() else "")
        if base is not None:
            copy_kb(base, temporary / "kb")
    return target


def _refuse_links_out(folder: Path) -> None:
    """Refuse a symbolic link to what is not in the folder: it would be copied to wherever the model is shipped."""
    for path in folder.rglob("*"):
        if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
            message = f"{path}: a link to {path.resolve()}, outside of the folder, which would be shipped"
            raise CheckpointError(f"{message}; put the file itself there, or give a knowledge base by --kb")
