"""Make a model folder that travels: narrow weights, and the knowledge base inside."""

from __future__ import annotations

from pathlib import Path

from parlink.checkpoint.folder import load_checkpoint, own_kb, replacing, write_checkpoint
from parlink.checkpoint.quantize import Bits
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
    if target.exists() and any(target.iterdir()):
        raise CheckpointError(f"{target}: there already, and not empty; give another folder, or remove this one")
    checkpoint, card = load_checkpoint(source), source / "README.md"
    base = own_kb(source) if kb is None else Path(kb)
    with replacing(target) as temporary:
        text = card.read_text() if card.is_file() else ""
        write_checkpoint(temporary, checkpoint, card=text, bits=bits, word_bits=word_bits)
        if base is not None:
            copy_kb(base, temporary / "kb")
    return target
