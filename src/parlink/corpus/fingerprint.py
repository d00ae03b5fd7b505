"""What the bytes of an output depend on, by name, so that a run is not gone on with under other conditions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from parlink.checkpoint.config_file import own_kb, packaged_model
from parlink.checkpoint.onnx_folder import has_graphs
from parlink.corpus.job import Job
from parlink.data import files, places
from parlink.errors import DataFormatError, ParlinkError
from parlink.kb import KnowledgeBase

Fingerprint = dict[str, str]
_FILES = ("config.json", "tokenizer.json", "model.safetensors")
_WHERE = "input "


def take(job: Job, inputs: Sequence[str], settings: Mapping[str, Any]) -> Fingerprint:
    """Describe the model, the knowledge base, the options, other settings and the input files."""
    model = packaged_model() if job.model is None else job.model
    kb = own_kb(model) if job.kb is None else job.kb
    options = (
        msgspec.to_builtins(job.options)
        | {"top": job.top, "strip": job.strip, "precision": job.load.precision}
        | dict(settings)
    )
    return {
        "parlink": version("parlink"),
        "model": _hash_model(model),
        "knowledge base": "none" if kb is None else KnowledgeBase.open(kb).name,
        **{f"option {name}": str(value) for name, value in sorted(options.items())},
        "inputs": ", ".join(inputs),
        **{_WHERE + name: _stamp(name) for name in inputs if name != files.STANDARD_STREAM},
    }


def compare(began: Fingerprint, now: Fingerprint, *, output: str, remove: Path | str) -> None:
    """Refuse to mix; the error names the first thing that differs, and what to remove to begin anew."""
    for name in dict.fromkeys([*began, *now]):
        before, after = began.get(name, "none"), now.get(name, "none")
        if before == after:
            continue
        if name.startswith(_WHERE):
            what = f"{name.removeprefix(_WHERE)} has changed since it was begun"
        else:
            what = f"was begun with another {name} ({before}, and now {after})"
        raise ParlinkError(f"{output}: {what}; give the same, or remove {remove} to begin anew")


def _hash_model(folder: Path) -> str:
    digest = hashlib.sha256()
    for name in _FILES[:2] if has_graphs(folder) else _FILES:  # the config has the checksums of graphs
        try:
            with (folder / name).open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        except OSError as error:
            raise DataFormatError(f"cannot be read ({error.strerror}); give a model folder", path=folder) from error
    return f"{folder.name}@{digest.hexdigest()[:12]}"


def _stamp(path: str) -> str:
    """Say which version of a file this is, without reading it."""
    if places.remote_url(path) is None:
        try:
            status = Path(path).stat()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise DataFormatError(f"cannot be read ({reason}); give the path of a data file", path=path) from error
        return f"{status.st_size} bytes of {status.st_mtime_ns}"
    place, name = places.filesystem(path)
    return str(place.ukey(name))
