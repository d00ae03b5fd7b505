"""Two processes that share the work come to the same weights as one that does it all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from safetensors.torch import load_file

from parlink.errors import ConfigError
from parlink.training.initial import initial_checkpoint
from parlink.training.loop import Run
from parlink.training.processes import Processes
from tiny_training import tiny_config, tiny_settings, toml

FIXED: dict[str, Any] = {"dropout": 0.0, "negatives": 9, "natural": 0.0, "validate_steps": 2}
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m"]
# What shifts all scores of a softmax alike has no gradient but rounding errors, which Adam makes steps of.
SHIFTS = ("qkv.bias", "end.4.bias", "end.6.bias", "classifier.4.bias", "classifier.6.bias")


def test_two_processes_equal_one_with_twice_the_batch(tmp_path: Path) -> None:
    alone = tiny_config(tmp_path, **FIXED, batch_size=4, output=str(tmp_path / "alone"))
    one = Run(alone, initial_checkpoint(alone))
    list(one.events())
    file = tmp_path / "train.toml"
    file.write_text(toml(tiny_settings(tmp_path, **FIXED, batch_size=2)))
    done = subprocess.run([*TORCHRUN, "parlink", "train", str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(tmp_path / "run" / "model")]  # one of them speaks
    two = load_file(tmp_path / "run" / "checkpoint" / "model-6.safetensors")
    for name, tensor in one.model.state_dict().items():
        if not name.endswith(SHIFTS):
            torch.testing.assert_close(tensor, two[name], atol=2e-6, rtol=0, msg=lambda m, n=name: f"{n}: {m}")
    lines = (tmp_path / "run" / "log.jsonl").read_bytes().splitlines()
    for ours, theirs in zip(one.log.entries(), map(msgspec.json.decode, lines), strict=True):
        assert theirs.get("losses", {}) == pytest.approx(ours.get("losses", {}), rel=1e-5)
        assert theirs.get("f1") == ours.get("f1")


def test_a_device_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="device = 'abacus' cannot be used"):
        Processes(tiny_config(tmp_path, device="abacus"))


def test_mixed_precision_is_never_used_on_a_cpu(tmp_path: Path) -> None:
    assert not Processes(tiny_config(tmp_path)).mixed
    with pytest.raises(ConfigError, match="mixed_precision needs a CUDA device"):
        Processes(tiny_config(tmp_path, mixed_precision=True))
