"""Models on the Hugging Face hub: fetched by name, pinned to a revision, and pushed with their card."""

from __future__ import annotations

import re
from pathlib import Path

from parlink.errors import CheckpointError

# Nothing that runs code when it is read: JSON, safetensors, graphs, arrays, tries and Markdown.
MODEL_FILES = ("config.json", "tokenizer.json", "*.safetensors", "README.md", "onnx/*.onnx", "onnx/*.npy")
FILES = (*MODEL_FILES, "kb/kb.json", "kb/*.safetensors", "kb/*.marisa")
_NAME = re.compile(r"(?P<name>[\w.-]+/[\w.-]+?)(?:(?:@|/tree/)(?P<revision>[\w./-]+))?")
_URL = re.compile(r"https?://[^/]+/")


def model_folder(path_or_name: Path | str) -> Path:
    """Return a model folder as it is; a name, such as `org/name` or `org/name@revision`, or a URL is fetched once."""
    folder = Path(path_or_name)
    if isinstance(path_or_name, Path) or folder.exists():
        return folder
    match = _NAME.fullmatch(_URL.sub("", path_or_name).rstrip("/"))
    if match is None:
        return folder
    return fetch(match["name"], revision=match["revision"])


def fetch(name: str, *, revision: str | None = None) -> Path:
    """Fetch a model into the hub's cache; what is there already is not fetched again."""
    hub = _hub(name)
    try:
        return Path(hub.snapshot_download(name, revision=revision, allow_patterns=list(FILES)))
    except (OSError, ValueError) as error:  # no network, no such name or revision
        where = f"{name} at {revision}" if revision else name
        raise CheckpointError(
            f"{where}: no such folder, and it cannot be fetched from the hub ({_first_line(error)}); "
            "check the name and the network, or give the folder of a model"
        ) from error


def push(folder: Path | str, name: str, *, private: bool = False) -> str:
    """Push a model folder, its card and its knowledge base; returns the revision to pin."""
    source, hub = Path(folder), _hub(name)
    if not (source / "config.json").is_file():
        raise CheckpointError(f"{source}: no model folder, it has no config.json; give one that `parlink export` made")
    try:
        hub.HfApi().create_repo(name, private=private, exist_ok=True)
        commit = hub.HfApi().upload_folder(repo_id=name, folder_path=source, allow_patterns=list(FILES))
    except (OSError, ValueError) as error:  # no network, no permission, not a valid name
        raise CheckpointError(
            f"{name}: cannot be pushed to ({_first_line(error)}); check the name, the network and `hf auth login`"
        ) from error
    return str(commit.oid)


def _hub(name: str):  # type: ignore[no-untyped-def]  # a module
    try:
        import huggingface_hub
    except ImportError as error:
        message = f"{name}: no such folder, and the hub needs an extra: pip install 'parlink[hub]'"
        raise CheckpointError(message) from error
    return huggingface_hub


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
