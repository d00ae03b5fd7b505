"""Make a model folder that travels: narrow weights, and the knowledge base inside."""

from __future__ import annotations

from pathlib import Path

from parlink.checkpoint.config_file import own_kb
from parlink.checkpoint.folder import load_checkpoint, write_checkpoint
from parlink.checkpoint.quantize import Bits
from parlink.checkpoint.recovery import replacing
from parlink.errors import CheckpointError
from parlink.kb import copy_kb


def export(
    model: Path | str,
    output: Path | str,
    *,
    bits: Bits = 16,
    word_bits: Bits = 8,
    kb: Path | str | None = None,
) -> Path:
    """Copy a model, its card and its tuned values, with weights of fewer bits and the knowledge base it links to."""
    source, target = Path(model), Path(output)
    if target.exists() and not target.is_dir():
        raise CheckpointError(f"{target}: a file; give the name of a folder to make")
    if target.exists() and any(target.iterdir()):
        raise CheckpointError(f"{target}: there already, and not empty; give another folder, or remove this one")
    checkpoint, card = load_checkpoint(source), source / "README.md"
    base = own_kb(source) if kb is None else Path(kb)
    for folder in (source,) if base is None else (source, base):
        _refuse_links_out(folder)
    with replacing(target) as temporary:
        text = card.read_text() if card.is_file() else ""
        write_checkpoint(temporary, checkpoint, card=text, bits=bits, word_bits=word_bits)
        if base is not None:
            copy_kb(base, temporary / "kb")
    return target


def _refuse_links_out(folder: Path) -> None:
    """Refuse a symbolic link to what is not in the folder: it would be copied to wherever the model is shipped."""
    for path in folder.rglob("*"):
        if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
            message = f"{path}: a link to {path.resolve()}, outside of the folder, which would be shipped"
            raise CheckpointError(f"{message}; put the file itself there, or give a knowledge base by --kb")
