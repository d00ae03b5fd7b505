"""Matrix products in 8 bits by the kernels that there are, each as many times as fast as float32, by CPU time.

    python benchmarks/int8.py [TOKENS]

`parlink` is what `--precision int8` does: oneDNN with a scale for each token. The others have one for all tokens, but
for `torch._int_mm`, of which only the product is timed.
"""

from __future__ import annotations

import importlib.util
import sys
import time
import warnings
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from parlink.checkpoint.int8_kernel import find_token_bits
from parlink.nn.int8 import Int8Linear

SHAPES = ((384, 1152), (1536, 384), (768, 3072))  # inputs, outputs
SECONDS = 0.3


def kernels(states: Tensor, weight: Tensor) -> dict[str, Callable[[], object]]:
    """What multiplies these in 8 bits."""
    scale = weight.abs().amax(1) / 127
    whole = (weight / scale[:, None]).round().to(torch.int8)
    tokens = (states / states.abs().amax(1, keepdim=True) * 127).round().to(torch.int8)
    found: dict[str, Callable[[], object]] = {}
    if (bits := find_token_bits()) is not None:
        linear = Int8Linear(weight, None, token_bits=bits)
        found[f"parlink, {bits} bits a token"] = lambda: linear(states)
    for engine in ("onednn", "fbgemm"):
        if engine in torch.backends.quantized.supported_engines:
            found[f"torch, {engine}"] = _torch_dynamic(engine, states, weight, scale)
    found["torch._int_mm"] = lambda: torch._int_mm(tokens, whole.t())
    if importlib.util.find_spec("onnxruntime") and importlib.util.find_spec("onnx"):
        found["onnxruntime"] = _onnxruntime(states, whole, scale)
    return found


def _torch_dynamic(engine: str, states: Tensor, weight: Tensor, scale: Tensor) -> Callable[[], object]:
    torch.backends.quantized.engine = engine
    zeros = torch.zeros(len(scale), dtype=torch.long)
    packed = torch.ops.quantized.linear_prepack(
        torch.quantize_per_channel(weight, scale.double(), zeros, 0, torch.qint8), None
    )

    def work() -> object:
        torch.backends.quantized.engine = engine
        return torch.ops.quantized.linear_dynamic(states, packed, True)

    return work


def _onnxruntime(states: Tensor, whole: Tensor, scale: Tensor) -> Callable[[], object]:
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    weights = [
        numpy_helper.from_array(whole.t().contiguous().numpy(), "w"),
        numpy_helper.from_array(scale.numpy(), "s"),
    ]
    node = helper.make_node("DynamicQuantizeMatMul", ["x", "w", "s"], ["y"], domain="com.microsoft")
    shapes = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, size])
        for name, size in (("x", whole.shape[1]), ("y", len(whole)))
    ]
    graph = helper.make_graph([node], "product", shapes[:1], shapes[1:], weights)
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=domains, ir_version=9)
    onnx.checker.check_model(model)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    fed = {"x": states.numpy()}
    return lambda: session.run(None, fed)


def seconds(work: Callable[[], object]) -> float:
    """The least CPU time of many runs."""
    work()
    least, begin = float("inf"), time.process_time()
    while (start := time.process_time()) - begin < SECONDS:
        work()
        least = min(least, time.process_time() - start)
    return least


@torch.inference_mode()
def main(tokens: int = 1024) -> None:
    warnings.filterwarnings("ignore", message=".*deprecated", category=UserWarning)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows: dict[str, list[str]] = {}
    for inputs, outputs in SHAPES:
        states, weight = torch.randn(tokens, inputs), torch.randn(outputs, inputs)
        float32 = seconds(lambda: F.linear(states, weight))  # noqa: B023
        for name, work in kernels(states, weight).items():
            rows.setdefault(name, []).append(f"{float32 / seconds(work):.2f}")
    print(f"| {tokens} tokens | " + " | ".join(f"{inputs} to {outputs}" for inputs, outputs in SHAPES) + " |")
    print("|---|" + "---:|" * len(SHAPES))
    for name, ratios in rows.items():
        print(f"| {name} | {' | '.join(ratios)} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--help"]:
        sys.exit(__doc__)
    main(*map(int, sys.argv[1:]))
