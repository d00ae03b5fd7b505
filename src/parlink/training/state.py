"""What a run needs to go on where it was: weights, optimizer, step and plan; random states follow from the step.

    checkpoint/progress.json               says which step is saved; put in place last, by one rename
    checkpoint/model-120.safetensors       the weights after step 120
    checkpoint/optimizer-120.safetensors   its moments
    checkpoint/average-120.safetensors     the average of the weights, where the config has an `ema_decay`

At every moment, `progress.json` speaks of files that are whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from parlink.checkpoint.folder import load_weights, save_tensors, save_weights
from parlink.errors import CheckpointError, ConfigError, TrainingError
from parlink.nn.model import LinkingModel
from parlink.train_config import TrainConfig
from parlink.training.average import WeightAverage
from parlink.training.data import DatasetSizes
from parlink.training.stream import Cursor

PROGRESS = "progress.json"
FREE = ("log_steps", "checkpoint_minutes", "timeout_minutes", "device")  # may change when a run goes on


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run is."""

    config: TrainConfig
    windows: int  # in a batch, over all processes
    tokenizer: str  # its hash; one that is made from the data would change with it
    stage: int = 0
    step: int = 0  # done in this stage
    total: int = 0  # done in all stages
    planned: int = 0  # steps of this stage; 0: not known yet
    validated: int = 0  # `total` at the last validation
    seconds: float = 0.0  # trained so far
    best: float = -1.0  # validation micro-F1 of the model kept
    first_loss: float | None = None
    mean_loss: float | None = None  # of the latest steps
    data: dict[str, DatasetSizes] = {}  # of the datasets read so far, by path
    cursors: tuple[Cursor, ...] = ()  # where each dataset of the stage is to be read on; empty: from its beginning

    def moved(self, **changes: Any) -> Progress:
        """The same run, somewhere else."""
        return msgspec.structs.replace(self, **changes)


def has_state(folder: Path) -> bool:
    """Whether there is something to go on from."""
    return (folder / PROGRESS).exists()


def save_state(
    folder: Path,
    model: LinkingModel,
    optimizer: torch.optim.Optimizer,
    progress: Progress,
    *,
    average: WeightAverage,
) -> None:
    """Write the state of a run; until all of it is written, the one before stays."""
    names = _names(progress)
    partial = {name: folder / f"{name}.partial" for name in (*names, PROGRESS)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        save_weights(partial[names[0]], model)
        save_tensors(partial[names[1]], _moments(optimizer))
        if average.weights:
            save_tensors(partial[names[2]], average.weights)
        partial[PROGRESS].write_bytes(msgspec.json.format(msgspec.json.encode(progress)))
        for name, path in partial.items():
            _sync(path)
            path.replace(folder / name)
    except (OSError, SafetensorError) as error:
        kept = "the checkpoint before it is kept; make room" if has_state(folder) else "make room"
        raise TrainingError(f"{folder}: cannot be written ({error}); {kept} and go on with --resume") from error
    finally:
        for path in folder.glob("*.partial"):
            path.unlink()
    remove_remains(folder)


def remove_remains(folder: Path) -> None:
    """Remove all weights but those of the state: a run that was killed may have left those before it, or after it."""
    names = _names(read_progress(folder))
    for path in folder.glob("*.safetensors"):
        if path.name not in names:
            path.unlink()


def load_state(
    folder: Path,
    model: LinkingModel,
    optimizer: torch.optim.Optimizer,
    config: TrainConfig,
    *,
    windows: int,
    tokenizer: str,
    average: WeightAverage,
) -> Progress:
    """Put the state of a run back into model, optimizer and average; the config must be the one it was made with."""
    progress = read_progress(folder)
    for key, before, now in _differences(progress.config, config, ""):
        if key not in FREE:
            raise ConfigError(f"{folder}: was made with {key} = {before}, the config says {now}; {_CHANGED}")
    if progress.windows != windows:
        got = f"was made with {progress.windows} windows a step over all processes, now it would be {windows}"
        raise ConfigError(f"{folder}: {got}; change batch_size or the number of processes back, {_OR_ELSE}")
    if progress.tokenizer != tokenizer:
        raise ConfigError(
            f"{folder}: was made with another tokenizer; has the data changed? Change it back, {_OR_ELSE}"
        )
    weights, moments, *averaged = (folder / name for name in _names(progress))
    load_weights(weights, model, assign=False)
    stored = _load(moments)
    for path in averaged:
        average.load(_load(path))
    for key, parameter in _number_parameters(optimizer):
        named = {name: stored.get(f"{key}.{name}") for name in ("step", "exp_avg", "exp_avg_sq")}
        moments_of = {name: value.to(parameter.device) for name, value in named.items() if value is not None}
        if moments_of:
            optimizer.state[parameter] = moments_of
    return progress


def _load(path: Path) -> dict[str, torch.Tensor]:
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path}: cannot be read ({error}); {_START_AGAIN}") from error


def read_progress(folder: Path) -> Progress:
    """Read where a run is."""
    path = folder / PROGRESS
    try:
        return msgspec.json.decode(path.read_bytes(), type=Progress)
    except (OSError, msgspec.MsgspecError, UnicodeError) as error:
        raise CheckpointError(f"{path}: cannot be resumed from ({error}); {_START_AGAIN}") from error


_OR_ELSE = "or start a new run with another output"
_CHANGED = f"change it back, {_OR_ELSE}"
_START_AGAIN = "remove the run's folder and start again"


def _names(progress: Progress) -> list[str]:
    kinds = ["model", "optimizer", *(["average"] if progress.config.ema_decay else [])]
    return [f"{kind}-{progress.total}.safetensors" for kind in kinds]


def _sync(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def _differences(before: object, now: object, key: str) -> Iterator[tuple[str, Any, Any]]:
    """The keys, written as `stages[0].steps`, that have another value now."""
    if isinstance(before, msgspec.Struct) and isinstance(now, msgspec.Struct):
        for name in before.__struct_fields__:
            yield from _differences(getattr(before, name), getattr(now, name), f"{key}.{name}".lstrip("."))
    elif isinstance(before, tuple) and isinstance(now, tuple) and len(before) == len(now):
        for index, pair in enumerate(zip(before, now, strict=True)):
            yield from _differences(*pair, f"{key}[{index}]")
    elif before != now:
        yield key, before, now


def _number_parameters(optimizer: torch.optim.Optimizer) -> list[tuple[str, torch.nn.Parameter]]:
    return [(f"{g}.{i}", p) for g, group in enumerate(optimizer.param_groups) for i, p in enumerate(group["params"])]


def _moments(optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    return {
        f"{key}.{name}": value
        for key, parameter in _number_parameters(optimizer)
        for name, value in optimizer.state.get(parameter, {}).items()
    }
