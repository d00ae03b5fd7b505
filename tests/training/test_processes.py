"""Two processes that share the work come to the same weights as one that does it all."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from parlink.checkpoint.int8_kernel import ends_processes
from parlink.errors import ConfigError
from parlink.training.events import StepEvent
from parlink.training.initial import initial_checkpoint
from parlink.training.loop import Run
from parlink.training.processes import Processes
from tiny_training import tiny_config, tiny_settings, toml

FIXED: dict[str, Any] = {"dropout": 0.0, "negatives": 9, "natural": 0.0, "validate_steps": 2}
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
# The claim is exactness, so it is made in float64: in float32, the order of a sum depends on the processor.
SCRIPT = """
import sys
import torch
torch.set_default_dtype(torch.float64)
from parlink.cli.main import run
sys.argv = ["parlink", "train", sys.argv[1]]
run()
"""


@pytest.fixture
def in_float64() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.usefixtures("in_float64")
def test_two_processes_equal_one_with_twice_the_batch(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, **FIXED, batch_size=4, output=str(tmp_path / "alone"))
    start = initial_checkpoint(config).model.state_dict()
    alone = Run(config, initial_checkpoint(config))
    list(alone.events())
    (tmp_path / "train.toml").write_text(toml(tiny_settings(tmp_path, **FIXED, batch_size=2)))
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [*TORCHRUN, str(tmp_path / "script.py"), str(tmp_path / "train.toml")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(tmp_path / "run" / "model")]  # one of them speaks
    together = load_file(tmp_path / "run" / "checkpoint" / "model-6.safetensors")
    for name, weight in alone.model.state_dict().items():
        assert weight.dtype == torch.float64
        assert_same_update(weight - start[name], together[name] - start[name], name)
    lines = (tmp_path / "run" / "log.jsonl").read_bytes().splitlines()
    for ours, theirs in zip(alone.log.entries(), map(msgspec.json.decode, lines), strict=True):
        assert theirs.get("losses", {}) == pytest.approx(ours.get("losses", {}), rel=1e-7)
        assert theirs.get("f1") == ours.get("f1")


@pytest.mark.usefixtures("in_float64")
def test_accumulated_batches_equal_one_that_is_as_large(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, **FIXED, batch_size=4, output=str(tmp_path / "alone"))
    start = initial_checkpoint(config).model.state_dict()
    parts = tiny_config(tmp_path, **FIXED, batch_size=1, accumulate=4)
    runs = [Run(one, initial_checkpoint(one)) for one in (config, parts)]
    losses = [[event.losses for event in run.events() if isinstance(event, StepEvent)] for run in runs]
    for ours, theirs in zip(*losses, strict=True):
        assert theirs == pytest.approx(ours, rel=1e-7)
    whole, accumulated = (run.model.state_dict() for run in runs)
    for name, weight in whole.items():
        assert_same_update(weight - start[name], accumulated[name] - start[name], name)


def assert_same_update(ours: Tensor, theirs: Tensor, name: str) -> None:
    """Compare relative to how far the weights moved; what has no gradient but rounding errors hardly moves."""
    assert float((ours - theirs).abs().max()) <= 1e-5 * float(ours.abs().max()) + 1e-9, name


def test_a_device_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="device 'abacus' cannot be used"):
        Processes(tiny_config(tmp_path, device="abacus"))


def test_mixed_precision_is_used_on_a_cpu_only_if_asked_for(tmp_path: Path) -> None:
    assert not Processes(tiny_config(tmp_path, device="cpu")).mixed
    wanted = tiny_config(tmp_path, device="cpu", mixed_precision=True)
    if ends_processes():
        with pytest.raises(ConfigError, match="bfloat16 ends processes on this CPU"):
            Processes(wanted)
    else:
        assert Processes(wanted).mixed


def test_mixed_precision_loses_little(tmp_path: Path) -> None:
    if ends_processes():
        pytest.skip("bfloat16 ends processes on this CPU")
    first = []
    for mixed in (False, True):
        config = tiny_config(tmp_path, device="cpu", mixed_precision=mixed, output=str(tmp_path / str(mixed)))
        events = Run(config, initial_checkpoint(config)).events()
        first.append(next(event.losses for event in events if isinstance(event, StepEvent)))
        events.close()
    assert first[1] == pytest.approx(first[0], rel=0.05, abs=0.02)
    assert first[1] != first[0]
