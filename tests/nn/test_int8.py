"""8 bits: near float32, and the same whatever is computed beside."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from parlink.checkpoint.int8_kernel import find_token_bits
from parlink.nn.int8 import Int8Linear, TokenBits
from parlink.nn.lstm import Int8Lstm, Lstm

BITS = find_token_bits()
pytestmark = pytest.mark.skipif(BITS is None, reason="this CPU has no 8-bit kernel that is of use")
token_bits: TokenBits = BITS or 7


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@torch.inference_mode()
def test_a_map_is_near_that_of_float32_for_small_and_large_states() -> None:
    weight, bias, states = draw(48, 64), draw(48, seed=1), draw(5, 7, 64, seed=2) * torch.logspace(-3, 3, 7)[:, None]
    weight[3], states[1, 2] = 0, 0
    wanted, got = F.linear(states, weight, bias), Int8Linear(weight, bias, token_bits=token_bits)(states)
    assert got.shape == wanted.shape
    assert ((got - wanted).abs() <= 0.05 * (wanted - bias).abs().amax(-1, keepdim=True) + 1e-6).all()


@torch.inference_mode()
def test_what_a_token_gets_does_not_depend_on_the_others() -> None:
    linear, states = Int8Linear(draw(48, 64), None, token_bits=token_bits), draw(9, 64, seed=2)
    states[0] *= 1000
    whole = linear(states)
    for token, alone in enumerate(states):
        assert torch.equal(linear(alone[None])[0], whole[token])
    assert linear(states[:0]).shape == (0, 48)


@torch.inference_mode()
def test_the_largest_numbers_do_not_overflow() -> None:
    signs = torch.tensor([1.0, -1.0])[:, None] * torch.ones(2, 256)
    got = Int8Linear(signs, None, token_bits=token_bits)(signs)
    torch.testing.assert_close(got, F.linear(signs, signs), rtol=0.01, atol=0)


@torch.inference_mode()
def test_the_gates_of_an_lstm_are_near() -> None:
    torch.manual_seed(0)
    lstm, states = Lstm(32), draw(6, 32)
    small = Int8Lstm(lstm, token_bits=token_bits)
    for wanted, got in (
        (lstm.of_words(states), small.of_words(states)),
        (lstm.of_mentions(states), small.of_mentions(states)),
        (lstm.of_hidden(states), small.of_hidden(states)),
    ):
        assert (got - wanted).abs().max() < 0.05 * wanted.abs().max()
