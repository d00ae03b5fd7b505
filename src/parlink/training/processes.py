"""Several processes that train one model: sums over all of them; with one process, nothing happens."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn

from parlink.checkpoint.device import choose_device
from parlink.checkpoint.int8_kernel import LIMIT, WITHOUT_AMX, ends_processes
from parlink.errors import ConfigError, TrainingError
from parlink.train_config import TrainConfig

T = TypeVar("T")


class LostProcessError(TrainingError):
    """Another process of the run has stopped."""


class Processes:
    """The processes that `torchrun` started, or just this one, and the device of each."""

    def __init__(self, config: TrainConfig) -> None:
        wanted = config.device or ("cuda" if torch.cuda.is_available() else "cpu")
        started = "WORLD_SIZE" in os.environ
        if wanted == "cuda" and started:
            wanted = f"cuda:{os.environ['LOCAL_RANK']}"  # one GPU each
        self.device = choose_device(wanted)
        self.mixed = _use_mixed_precision(config.mixed_precision, self.device)
        if started and not dist.is_initialized():
            patience = timedelta(minutes=config.timeout_minutes)
            dist.init_process_group("nccl" if self.device.type == "cuda" else "gloo", timeout=patience)
        self.together = dist.is_initialized()
        self.world_size = dist.get_world_size() if self.together else 1
        self.rank = dist.get_rank() if self.together else 0

    @property
    def is_main(self) -> bool:
        """Whether this process is the one that writes files."""
        return self.rank == 0

    def shard(self, items: Sequence[T]) -> Sequence[T]:
        """This process's share of a batch."""
        return items[self.rank :: self.world_size]

    def autocast(self) -> torch.autocast:
        """Mixed precision for the block, where it is on."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.mixed)

    def sum(self, values: Tensor) -> Tensor:
        """Add up a tensor over all processes."""
        if self.together:
            values = values.to(self.device, copy=True)
            _add_up(values)
        return values

    def mean(self, value: float) -> float:
        """The mean of a number over all processes, so that all of them go on with the same one."""
        return float(self.sum(torch.tensor(value, dtype=torch.float64))) / self.world_size

    def sum_gradients(self, model: nn.Module) -> None:
        """Add up all gradients, in one message."""
        if not self.together:
            return
        own = [p for p in model.parameters() if p.requires_grad]
        for p in own:
            p.grad = torch.zeros_like(p) if p.grad is None else p.grad
        flat = torch.cat([p.grad.flatten() for p in own if p.grad is not None])
        _add_up(flat)
        for p, part in zip(own, torch.split(flat, [p.numel() for p in own]), strict=True):
            p.grad = part.view_as(p)

    def wait(self) -> None:
        """Go on when all processes have come here."""
        self.sum(torch.zeros(1))

    def leave(self) -> None:
        """Wait for the others and part from them."""
        if self.together:
            dist.barrier()
            dist.destroy_process_group()
            self.together = False


def _add_up(values: Tensor) -> None:
    try:
        dist.all_reduce(values)
    except RuntimeError as error:
        raise LostProcessError(f"another process has stopped ({error}); start all of them with --resume") from error


def _use_mixed_precision(wanted: bool | None, device: torch.device) -> bool:
    """Whether to compute in bfloat16 where that is enough: on a GPU that has it, on a CPU only if it is asked for."""
    if device.type == "cuda":
        return wanted is not False and torch.cuda.is_bf16_supported()
    if wanted and device.type == "cpu" and ends_processes():
        raise ConfigError(
            f"mixed_precision: bfloat16 ends processes on this CPU; leave it out, or start with {LIMIT}={WITHOUT_AMX}"
        )
    return bool(wanted)
