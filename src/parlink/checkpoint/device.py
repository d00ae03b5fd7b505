"""The device that a model runs on: the one asked for, if it is here."""

from __future__ import annotations

import torch

from parlink.errors import ConfigError

LONGEST_REASON = 80  # characters


def choose_device(name: str) -> torch.device:
    """Return the device of a name; `auto` is CUDA where there is such a device, else the CPU."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise ConfigError(
            f"device {name!r} cannot be used{_give_reason(error)}; available here: {_list_devices()}"
        ) from error
    return device


def _give_reason(error: Exception) -> str:
    """What torch says, if it is one sentence: some of its answers name every backend there is."""
    reason = str(error).splitlines()[0].rstrip(".")
    return f" ({reason})" if len(reason) <= LONGEST_REASON else ""


def _list_devices() -> str:
    return ", ".join(["cpu", *(f"cuda:{number}" for number in range(torch.cuda.device_count()))])
