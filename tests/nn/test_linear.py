"""Linear maps by either kernel are those of torch."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from parlink.nn import linear as kernels
from parlink.nn.linear import HAS_ONEDNN, Linear, gelu_of, linear

ROWS = 50  # of 8 numbers, mapped to 5, are enough here


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    """Let maps of a test's size be large enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "LEAST_WORK", ROWS * 8 * 5)
        yield


@given(st.integers(1, 3 * ROWS), st.integers(1, 40), st.integers(1, 40), st.booleans(), st.booleans(), st.booleans())
def test_it_is_the_linear_map_of_torch(
    rows: int, inputs: int, outputs: int, with_bias: bool, is_slice: bool, is_turned: bool
) -> None:
    rng = torch.Generator().manual_seed(rows * inputs + outputs)
    states = torch.randn(inputs, rows, generator=rng).T if is_turned else torch.randn(rows, inputs, generator=rng)
    weight = torch.randn(outputs, 2 * inputs, generator=rng)[:, :inputs] if is_slice else torch.randn(outputs, inputs)
    bias = torch.randn(2 * outputs, generator=rng)[::2] if with_bias else None
    with torch.inference_mode():
        got, wanted = linear(states, weight, bias), F.linear(states, weight, bias)
    assert got.shape == wanted.shape
    torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(0, 8), (2, 70, 8), (1, 8)])
def test_it_takes_states_of_any_shape(shape: tuple[int, ...]) -> None:
    layer, states = Linear(8, 5), torch.randn(shape)
    with torch.no_grad():
        torch.testing.assert_close(layer(states), F.linear(states, layer.weight, layer.bias), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rows", [1, 2 * ROWS])
@pytest.mark.parametrize("layer", [Linear(8, 5), nn.Linear(8, 5), Linear(8, 5, bias=False)])
@torch.no_grad()
def test_gelu_may_be_part_of_it(rows: int, layer: nn.Linear) -> None:
    states = torch.randn(rows, 8)
    wanted = F.gelu(F.linear(states, layer.weight, layer.bias))
    torch.testing.assert_close(gelu_of(layer, states), wanted, rtol=1e-4, atol=1e-5)


def test_it_learns() -> None:
    layer = Linear(8, 5)
    layer(torch.randn(2 * ROWS, 8)).sum().backward()
    assert layer.weight.grad is not None and layer.weight.grad.abs().sum() > 0


@torch.inference_mode()
def test_other_types_of_numbers_are_left_to_torch() -> None:
    layer, states = Linear(8, 5).bfloat16(), torch.randn(2 * ROWS, 8).bfloat16()
    assert layer(states).dtype == torch.bfloat16
    with torch.autocast("cpu", torch.bfloat16):
        assert Linear(8, 5)(states.float()).dtype == torch.bfloat16


@pytest.mark.skipif(not HAS_ONEDNN, reason="this CPU has no AVX-512")
def test_on_avx512_torch_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(F, "linear", None)
    with torch.inference_mode():
        assert Linear(8, 5)(torch.randn(ROWS, 8)).shape == (ROWS, 5)
        with pytest.raises(TypeError):
            Linear(8, 5)(torch.randn(ROWS - 1, 8))


def test_it_is_an_ordinary_layer_to_others() -> None:
    assert isinstance(Linear(8, 5), nn.Linear)


def test_a_graph_for_every_number_of_rows_can_be_made() -> None:
    rows = torch.export.Dim("rows")
    with torch.no_grad():
        graph = torch.export.export(Gelu(), (torch.randn(2 * ROWS, 8),), dynamic_shapes=({0: rows},))
    assert "mkldnn" not in str(graph.graph)
    assert graph.module()(torch.randn(3, 8)).shape == (3, 5)


class Gelu(nn.Module):
    """A map with GELU behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = Linear(8, 5)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return gelu_of(self.layer, states)
