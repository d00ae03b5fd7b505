"""Make a model folder that travels: narrow weights, and the knowledge base inside."""

from __future__ import annotations

import shutil
from pathlib import Path

from parlink.checkpoint import load_checkpoint, replacing, write_checkpoint
from parlink.errors import CheckpointError
from parlink.kb.tables import Tables
from parlink.packing import Bits


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
    base = Path(kb) if kb is not None else source / "kb" if (source / "kb").is_dir() else None
    with replacing(target) as temporary:
        text = card.read_text() if card.is_file() else ""
        write_checkpoint(temporary, checkpoint, card=text, bits=bits, word_bits=word_bits)
        if base is not None:
            _copy_tables(base, temporary / "kb")
    return target


def _copy_tables(kb: Path, target: Path) -> None:
    """Copy what a knowledge base consists of; the trees beside it are made anew where they are needed."""
    Tables.open(kb)  # complains if it is none
    target.mkdir()
    for file in kb.iterdir():
        if file.is_file():
            shutil.copyfile(file, target / file.name)
