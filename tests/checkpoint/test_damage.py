"""A damaged or hostile model folder is refused in a line, before memory is asked for."""

from __future__ import annotations

import json
import random
import resource
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from parlink.checkpoint.describe import describe
from parlink.checkpoint.export import export
from parlink.checkpoint.folder import load_checkpoint, save_checkpoint
from parlink.checkpoint.verify import verify
from parlink.errors import CheckpointError, ConfigError, ParlinkError
from parlink.model_config import ENCODER_LIMITS
from tiny_kb import tiny_folder
from tiny_model import tiny_checkpoint


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_checkpoint(tmp_path / "model", tiny_checkpoint(), card="# A card\n")
    return tmp_path / "model"


def set_value(folder: Path, *path: str, value: Any) -> None:
    """Write another value into config.json."""
    config = table = json.loads((folder / "config.json").read_text())
    for key in path[:-1]:
        table = table[key]
    table[path[-1]] = value
    (folder / "config.json").write_text(json.dumps(config))


SIZES = [(name, value) for name, most in ENCODER_LIMITS.items() for value in (-1, 0, most + 1, 10**9)]


@pytest.mark.parametrize(("name", "value"), SIZES)
def test_sizes_that_no_encoder_has_are_refused(folder: Path, name: str, value: int) -> None:
    set_value(folder, "model", "encoder", name, value=value)
    for use in (load_checkpoint, describe):
        with pytest.raises(ConfigError, match=name):
            use(folder)


@pytest.mark.parametrize(
    ("name", "value"),
    [("detector_hidden", 10**9), ("max_mention_tokens", 0), ("dropout", 1.5), ("eos_id", -1), ("bos_id", 10**9)],
)
def test_settings_that_no_model_has_are_refused(folder: Path, name: str, value: float) -> None:
    set_value(folder, "model", name, value=value)
    with pytest.raises(ConfigError, match=name):
        load_checkpoint(folder)


def test_a_width_that_the_heads_do_not_share_is_refused(folder: Path) -> None:
    set_value(folder, "model", "encoder", "heads", value=7)
    with pytest.raises(ConfigError, match="multiple of heads"):
        load_checkpoint(folder)


def test_a_scale_that_would_be_spread_over_360_gigabytes_is_refused(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    weights["huge"] = torch.ones(300_000, 1, dtype=torch.int8)
    weights["huge.scale"] = torch.ones(1, 300_000)
    save_file(weights, folder / "model.safetensors")
    set_value(folder, "files", value={})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CheckpointError, match=r"'huge\.scale' has shape"):
        load_checkpoint(folder)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 500_000  # kilobytes


def test_an_array_that_claims_more_than_its_file_is_refused(folder: Path) -> None:
    content = (folder / "model.safetensors").read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    name = next(name for name in header if name != "__metadata__")
    header[name] |= {"shape": [300_000, 300_000], "data_offsets": [0, 4 * 300_000**2]}
    changed = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(len(changed).to_bytes(8, "little") + changed + content[8 + length :])
    set_value(folder, "files", value={})
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_checkpoint(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_every_flipped_bit_is_told_by_verify(folder: Path, name: str) -> None:
    assert verify(folder)
    rng, whole = random.Random(name), (folder / name).read_bytes()
    for _ in range(25):
        content, bit = bytearray(whole), rng.randrange(8 * len(whole))
        content[bit // 8] ^= 1 << bit % 8
        (folder / name).write_bytes(content)
        if name == "config.json":
            try:
                verify(folder)  # a digit of a tuned value is as good as another
            except ParlinkError:
                continue
        else:
            with pytest.raises(ParlinkError):
                verify(folder)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_file_of_another_size_is_refused_when_the_folder_is_opened(folder: Path, name: str) -> None:
    with (folder / name).open("ab") as file:
        file.write(b" ")
    with pytest.raises(CheckpointError, match=f"{name}: truncated or damaged"):
        load_checkpoint(folder)


def test_a_folder_without_checksums_opens_and_says_so(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    del config["files"]
    (folder / "config.json").write_text(json.dumps(config))
    assert verify(folder) is False


def test_a_folder_caught_between_its_renames_opens(folder: Path) -> None:
    folder.rename(folder.with_name(".model.partial"))
    folder.with_name(".model.old").mkdir()
    load_checkpoint(folder)
    assert folder.is_dir()


@pytest.mark.parametrize("name", ["README.md", "kb/kb.json", "kb/notes"])
def test_export_ships_nothing_that_a_link_leads_to(folder: Path, tmp_path: Path, name: str) -> None:
    tiny_folder(tmp_path).rename(folder / "kb")
    outside = tmp_path / "secret"
    outside.write_bytes((folder / name).read_bytes() if (folder / name).exists() else b"secret")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(outside)
    with pytest.raises(CheckpointError, match="secret, outside of the folder"):
        export(folder, tmp_path / "small")
    assert not (tmp_path / "small").exists()


def test_export_to_a_file_says_so(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CheckpointError, match="a file; give the name of a folder"):
        export(folder, tmp_path / "file")


@pytest.mark.parametrize("content", [b'{"a": "\xff"}', 100_000 * b"["], ids=["no UTF-8", "nested deeply"])
def test_a_config_that_no_parser_takes_is_one_error(folder: Path, content: bytes) -> None:
    (folder / "config.json").write_bytes(content)
    with pytest.raises(CheckpointError, match=r"config\.json: not valid JSON"):
        load_checkpoint(folder)
