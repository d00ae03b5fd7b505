"""Models in float32 for processes to share."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from parlink.checkpoint.folder import load_checkpoint, save_checkpoint, write_checkpoint
from parlink.checkpoint.unpacked import unpack
from tiny_model import tiny_checkpoint


def test_a_packed_model_is_widened_once_and_an_unpacked_one_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARLINK_CACHE", str(tmp_path / "cache"))
    save_checkpoint(tmp_path / "wide", tiny_checkpoint(), card="")
    assert unpack(tmp_path / "wide") == tmp_path / "wide"
    (tmp_path / "narrow").mkdir()
    write_checkpoint(tmp_path / "narrow", tiny_checkpoint(), card="", bits=8, word_bits=16)
    folder = unpack(tmp_path / "narrow")
    assert folder.is_relative_to(tmp_path / "cache") and unpack(folder) == folder
    written = (folder / "model.safetensors").stat().st_mtime_ns
    assert unpack(tmp_path / "narrow") == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == written
    wanted, got = (load_checkpoint(path).model.state_dict() for path in (tmp_path / "narrow", folder))
    assert wanted.keys() == got.keys()
    assert all(torch.equal(wanted[name], got[name]) for name in wanted)
