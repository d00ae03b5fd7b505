"""Narrow weights come back close to what they were."""

from __future__ import annotations

import zlib

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from parlink.checkpoint.quantize import Bits, dequantize, quantize


@given(
    st.lists(st.lists(st.floats(-100, 100, width=32), min_size=3, max_size=3), min_size=1, max_size=5),
    st.sampled_from([6, 8, 16, 32]),
)
def test_each_weight_comes_back_within_half_a_step_of_its_row(rows: list[list[float]], bits: Bits) -> None:
    matrix = torch.tensor(rows)
    back = dequantize(quantize({"a.weight": matrix}, lambda name: bits))["a.weight"]
    step = matrix.abs().amax(dim=1, keepdim=True) / {6: 31, 8: 127, 16: 1024, 32: 1e9}[bits]
    assert back.dtype == torch.float32
    assert ((back - matrix).abs() <= 0.51 * step + 1e-7).all()


def test_vectors_keep_every_bit_and_matrices_shrink() -> None:
    weights = {"norm.weight": torch.rand(7), "words.weight": torch.rand(5, 64)}
    packed = quantize(weights, lambda name: 8)
    assert torch.equal(dequantize(packed)["norm.weight"], weights["norm.weight"])
    assert packed["words.weight"].dtype == torch.int8
    assert packed["words.weight.scale"].shape == (5, 1)


def test_a_parameter_that_is_called_scale_is_no_scale() -> None:
    weights = {"layer.scale": torch.rand(3)}
    assert dequantize(quantize(weights, lambda name: 8)).keys() == weights.keys()


@pytest.mark.parametrize(("bits", "share"), [(8, 0.24), (6, 0.19)])
def test_an_archive_shrinks_what_has_few_values(bits: Bits, share: float) -> None:
    matrix = torch.randn(256, 384, generator=torch.Generator().manual_seed(0))
    packed = quantize({"words.weight": matrix}, lambda name: bits)
    raw = b"".join(tensor.numpy().tobytes() for tensor in packed.values())
    assert len(zlib.compress(raw)) < share * 4 * matrix.numel()
