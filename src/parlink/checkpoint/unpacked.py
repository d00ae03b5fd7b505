"""A model folder whose weights can be computed with as they lie on disk, so that processes share one copy.

Weights in float32 are mapped into memory, and the system keeps one copy for all processes. Narrower ones are widened
at loading, which every process would do for itself; so a widened folder is kept in the user's cache.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from filelock import FileLock
from safetensors import safe_open

from parlink.cache import user_cache
from parlink.checkpoint.config_file import packaged_model
from parlink.checkpoint.folder import load_checkpoint, write_checkpoint
from parlink.checkpoint.recovery import replacing


def unpack(folder: Path | None = None) -> Path:
    """Return a folder with the same model in float32: the folder itself, if it is, else one in the cache.

    Without a folder it is the model that comes with the package.
    """
    source = packaged_model() if folder is None else folder
    weights = source / "model.safetensors"
    if not weights.is_file() or not _is_packed(weights):
        return source
    with weights.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    for name in ("config.json", "tokenizer.json"):
        digest.update((source / name).read_bytes())
    target = user_cache() / "unpacked" / digest.hexdigest()[:16]
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(target.with_suffix(".lock")):  # the first of several processes unpacks for all
        if not target.is_dir():
            with replacing(target) as temporary:
                write_checkpoint(temporary, load_checkpoint(source), card="")
    return target


def _is_packed(weights: Path) -> bool:
    with safe_open(weights, framework="pt") as file:
        return any(file.get_slice(name).get_dtype() != "F32" for name in file.keys())  # noqa: SIM118
