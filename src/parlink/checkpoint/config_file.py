"""What a model folder says of itself, config.json, and where such folders are; torch is not needed to read it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from parlink.checkpoint.recovery import finish
from parlink.config import Tuned
from parlink.errors import CheckpointError
from parlink.kb.info import File
from parlink.model_config import ModelConfig
from parlink.settings import parse

FORMAT = 2
PACKAGED = "default"  # the name, and the folder in the package, of the model that comes with it
# What format 1 called the same.
OLD_KEYS: dict[tuple[str, ...], dict[str, str | None]] = {
    ("model",): {"self_normalised": "self_normalized"},
    ("model", "encoder"): {"pad_id": None},  # the tokenizer knows it
    ("tuned",): {"threshold": "mention_threshold"},
    ("tuned", "confidence"): {"detection": "mention_logit"},
}


class ConfigFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What config.json holds."""

    format: int
    model: ModelConfig
    tuned: Tuned = Tuned()
    files: dict[str, File] = {}  # what the others must be; older folders do not say it


def trained_folder(name: Path | str) -> Path | None:
    """The folder of the trained model of this name; None if it names an encoder, in a folder or on the hub."""
    if name == PACKAGED:
        return packaged_model()
    try:
        data = msgspec.json.decode((Path(name) / "config.json").read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return Path(name) if isinstance(data, dict) and "format" in data else None


def packaged_model() -> Path:
    """The folder of the model that comes with the package."""
    folder = Path(__file__).parents[1] / PACKAGED
    if not folder.is_dir():
        raise CheckpointError(f"{folder}: the model that comes with parlink is missing; install parlink again")
    return folder


def own_kb(model: Path) -> Path | None:
    """The knowledge base inside a model folder, if there is one."""
    finish(model)
    return model / "kb" if (model / "kb").is_dir() else None


def update_tuned(folder: Path | str, tuned: Tuned) -> None:
    """Replace the tuned values of a model folder."""
    folder = Path(folder)
    config = read_config(folder)
    write_config(folder, msgspec.structs.replace(config, tuned=tuned))


def read_config(folder: Path | str) -> ConfigFile:
    """Read the config.json of a model folder."""
    finish(Path(folder))
    path = Path(folder) / "config.json"
    try:
        data = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise CheckpointError(f"{path}: missing; a model folder needs this file") from error
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise CheckpointError(f"{path}: not valid JSON: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get("format"), int):
        raise CheckpointError(f"{path}: not a parlink model (no 'format'); give a folder made by `parlink train`")
    if data["format"] > FORMAT:
        raise CheckpointError(f"{path}: format {data['format']} is newer than {FORMAT}; upgrade parlink")
    return parse(data if data["format"] == FORMAT else _with_new_keys(data), ConfigFile, source=str(path))


def check_sizes(folder: Path, config: ConfigFile) -> None:
    """Refuse a folder in which a file is missing, or is not as large as it was when it was written."""
    for name, file in config.files.items():
        try:
            size = (folder / name).stat().st_size
        except OSError as error:
            raise CheckpointError(f"{folder / name}: missing; a model folder needs this file") from error
        if size != file.size:
            message = f"{folder / name}: truncated or damaged, has {size:,} bytes and not {file.size:,}"
            raise CheckpointError(f"{message}; get the model again")


def _with_new_keys(data: dict[str, Any]) -> dict[str, Any]:
    """The same settings under the names of now."""
    for path, names in OLD_KEYS.items():
        table: Any = data
        for key in path:
            table = table.get(key) if isinstance(table, dict) else None
        for old, new in names.items() if isinstance(table, dict) else ():
            if old in table:
                value = table.pop(old)
                table.update({} if new is None else {new: value})
    return data | {"format": FORMAT}


def write_config(folder: Path, config: ConfigFile) -> None:
    """Write the config.json of a model folder."""
    temporary = folder / "config.json.partial"
    temporary.write_bytes(msgspec.json.format(msgspec.json.encode(config), indent=2) + b"\n")
    temporary.replace(folder / "config.json")
