"""A linear map of float32 by the kernel that makes use of the CPU.

On a CPU with AVX-512 that is oneDNN's. torch's own choice is MKL, which on CPUs other than Intel's leaves AVX-512
unused: on an AMD EPYC of the Zen 5 kind oneDNN multiplies 2.2 times as fast (`benchmarks/products.py`).
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

LEAST_WORK = 30_000_000  # products of two numbers; below, the call takes what it saves
STEP = 64  # rows: oneDNN makes, and keeps, a kernel for each number of them, so they are rounded up to few
HAS_ONEDNN = (
    torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    and torch.backends.cpu.get_cpu_capability() == "AVX512"
    and hasattr(torch.ops.mkldnn, "_linear_pointwise")
)


class Linear(nn.Linear):
    """`nn.Linear`, but faster where nothing is learned."""

    def forward(self, states: Tensor) -> Tensor:
        """Map states (..., inputs) to (..., outputs)."""
        return linear(states, self.weight, self.bias)


def linear(states: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`F.linear`; by oneDNN where no gradient is wanted, which its kernel does not give."""
    return _by_onednn(states, weight, bias, "none") if _suits_onednn(states, weight) else F.linear(states, weight, bias)


def gelu_of(layer: nn.Module, states: Tensor) -> Tensor:
    """GELU of what a linear map makes of states, in one go where that is possible."""
    is_hooked = layer._forward_hooks or layer._forward_pre_hooks
    if isinstance(layer, Linear) and not is_hooked and _suits_onednn(states, layer.weight):
        return _by_onednn(states, layer.weight, layer.bias, "gelu")
    return F.gelu(layer(states))


def _suits_onednn(states: Tensor, weight: Tensor) -> bool:
    if not HAS_ONEDNN or torch.is_grad_enabled() or torch.is_autocast_enabled("cpu") or _is_traced():
        return False  # before shapes are looked at, which may be symbols while a graph is made
    is_plain = states.dtype == weight.dtype == torch.float32 and states.device.type == "cpu"
    fits = states.shape[-1] == weight.shape[1]  # else torch says in its own words that it does not
    return is_plain and fits and states.numel() * len(weight) >= LEAST_WORK


def _is_traced() -> bool:
    return torch.compiler.is_compiling() or bool(torch._C._is_tracing())


def _by_onednn(states: Tensor, weight: Tensor, bias: Tensor | None, then: Literal["none", "gelu"]) -> Tensor:
    """Multiply; what is not contiguous is copied first, as its kernel for others takes a thousand times as long."""
    rows = states.numel() // states.shape[-1]
    flat = F.pad(states.reshape(rows, -1), (0, 0, 0, -rows % STEP)).contiguous()
    bias = None if bias is None else bias.contiguous()
    product: Tensor = torch.ops.mkldnn._linear_pointwise(flat, weight.contiguous(), bias, then, [], "none")
    return product[:rows].view(*states.shape[:-1], len(weight))
