"""The precision that a model computes in: the one asked for, if the machine can do it."""

from __future__ import annotations

import logging
from typing import get_args

import torch

from parlink.checkpoint.int8_kernel import LIMIT, WITHOUT_AMX, ends_processes, find_token_bits
from parlink.errors import ConfigError
from parlink.load_options import Precision
from parlink.nn.model import LinkingModel
from parlink.nn.precision import to_bfloat16, to_int8

_log = logging.getLogger(__name__)


def set_precision(model: LinkingModel, precision: Precision | None, *, device: torch.device) -> None:
    """Turn a model, in place, to what is asked for; `model.precision` says what it is then.

    None is bfloat16 on a CUDA device that has it, else float32. 8 bits are for the CPU; one that cannot compute with
    what is asked for links in float32.
    """
    if precision is None:
        precision = "bfloat16" if device.type == "cuda" and torch.cuda.is_bf16_supported() else "float32"
    if precision not in get_args(Precision):
        raise ConfigError(f"precision must be {', '.join(get_args(Precision))} or None, got {precision!r}")
    if precision == "bfloat16" and device.type == "cpu" and ends_processes():
        _log.warning(
            "bfloat16: the kernel for this CPU ends the process, so it is float32; start Python with %s=%s",
            LIMIT,
            WITHOUT_AMX,
        )
    elif precision == "bfloat16":
        to_bfloat16(model)
    if precision == "int8":
        _set_int8(model, device)


def _set_int8(model: LinkingModel, device: torch.device) -> None:
    if device.type != "cpu":
        raise ConfigError(f"int8 is for the CPU, and the device is {device}; leave precision out, or say device='cpu'")
    bits = find_token_bits()
    if bits is None:
        _log.warning(
            "int8: torch has no kernel for this CPU that is right and faster than float32, so it is float32; "
            "if the CPU has VNNI, start Python with %s=%s",
            LIMIT,
            WITHOUT_AMX,
        )
    else:
        to_int8(model, token_bits=bits)
