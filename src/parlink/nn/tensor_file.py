"""A file of named tensors, in the safetensors format."""

from __future__ import annotations

from pathlib import Path

from safetensors.torch import save_file
from torch import Tensor


def save_tensors(path: Path, tensors: dict[str, Tensor]) -> None:
    """Write tensors to a file that is open to whoever may open its folder; safetensors shuts others out."""
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path, metadata={"format": "pt"})
    path.chmod(path.parent.stat().st_mode & 0o666)
