"""Whether a model folder is, to the last bit, what was written."""

from __future__ import annotations

from pathlib import Path

from parlink.checkpoint.config_file import own_kb, read_config
from parlink.checkpoint.folder import load_checkpoint
from parlink.checkpoint.onnx_folder import has_graphs, load_onnx
from parlink.errors import CheckpointError
from parlink.kb.info import sha256_of
from parlink.kb.verify import verify as verify_kb


def verify(folder: Path | str) -> bool:
    """Read a model folder whole, with the knowledge base inside, and raise an error if anything in it is damaged.

    Returns whether the folder holds checksums; older ones do not, and of them it is known only that they can be read.
    """
    folder = Path(folder)
    files = read_config(folder).files
    if has_graphs(folder):
        load_onnx(folder)
    else:
        load_checkpoint(folder)
    for name, file in files.items():
        if sha256_of(folder / name) != file.sha256:
            raise CheckpointError(f"{folder / name}: damaged, its checksum is wrong; get the model again")
    if (kb := own_kb(folder)) is not None:
        verify_kb(kb)
    return bool(files)
