"""The encoder must be, number for number, the published one, and its window must be a band."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode
from transformers import PreTrainedModel

from parlink.checkpoint.pretrained.weights import Pretrained, load_pretrained
from parlink.model_config import EncoderConfig
from parlink.nn.encoder import (
    Encoder,
    as_bias,
    attention,
    band,
    full_attention,
    packed_attention,
)
from parlink.text.letter_case import CASES
from published import FAMILIES, PAD, VOCAB, WINDOW, publish, published_names, random_model

LENGTHS = (3, WINDOW, WINDOW + 1, 2 * WINDOW, 2 * WINDOW + 1, 3 * WINDOW, 4 * WINDOW + 5)
SMALL = EncoderConfig(
    family="roberta",
    vocab_size=VOCAB,
    hidden=16,
    layers=2,
    heads=2,
    intermediate=24,
    positions=12,
    position_offset=2,
    token_types=1,
)


@cache
def published(family: str) -> Pretrained:
    with TemporaryDirectory() as folder:
        loaded = load_pretrained(publish(random_model(family), Path(folder)))
        weights = {name: tensor.clone() for name, tensor in loaded.weights.items()}  # the file goes away
        return Pretrained(loaded.config, weights, None, loaded.tokenizer)


def ours(family: str) -> Encoder:
    pretrained = published(family)
    encoder = Encoder(pretrained.config, window=WINDOW if family == "Longformer" else 0, dropout=0.1)
    encoder.load_state_dict(pretrained.weights)
    return encoder.eval()


def padded_batch(length: int, *, pad_id: int) -> tuple[Tensor, Tensor]:
    """Three rows: a full one, one of two thirds and one of a single token."""
    torch.manual_seed(length)
    mask = torch.arange(length) < torch.tensor([[length], [max(1, 2 * length // 3)], [1]])
    tokens = torch.randint(5, VOCAB, mask.shape).masked_fill(~mask, pad_id)
    return tokens, mask


def weighted_sum(states: Tensor, mask: Tensor) -> Tensor:
    weights = torch.randn(states.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    return (states * weights.to(states.dtype))[mask].sum()


def gradients(module: nn.Module) -> dict[str, Tensor]:
    return {name: part.grad for name, part in module.named_parameters() if part.grad is not None}


def reference_states(model: PreTrainedModel, tokens: Tensor, mask: Tensor) -> Tensor:
    states: Tensor = model(input_ids=tokens, attention_mask=mask.long()).last_hidden_state
    return states


def assert_close(got: Tensor, wanted: Tensor) -> None:
    tolerance = 1e-6 if got.dtype == torch.float64 else 1e-4 * wanted.abs().max().item()
    torch.testing.assert_close(got, wanted, rtol=0, atol=tolerance)


@pytest.fixture
def softmax_in_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo the reference Longformer's cast to float32 in softmax, which in a float64 model gives NaN gradients."""
    monkeypatch.setattr(nn.functional, "softmax", lambda scores, dim, dtype=None: torch.softmax(scores, dim))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.usefixtures("softmax_in_float64")
def test_states_and_gradients_are_the_published_ones(family: str, length: int, dtype: torch.dtype) -> None:
    reference, encoder = random_model(family), ours(family)
    for module in (reference, encoder):
        nn.Module.to(module, dtype)
    tokens, mask = padded_batch(length, pad_id=PAD[family])
    wanted, got = reference_states(reference, tokens, mask), encoder(tokens, mask)
    assert_close(got[mask], wanted[mask])
    torch.autograd.backward([weighted_sum(wanted, mask), weighted_sum(got, mask)])
    assert_same_gradients(gradients(encoder), gradients(reference), family)


def assert_same_gradients(got: dict[str, Tensor], wanted: dict[str, Tensor], family: str) -> None:
    compared = set()
    for name, gradient in got.items():
        sources = published_names(name, family)
        parts = torch.cat([wanted[source] for source in sources])
        if name == "types.weight":
            assert not parts[1:].any()
            parts = parts[:1]
        assert_close(gradient, parts)
        compared.update(sources)
    assert compared == wanted.keys()


@pytest.mark.parametrize("global_tokens", [1, 5, 20])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.usefixtures("softmax_in_float64")
def test_global_attention_is_longformers_with_shared_projections(length: int, global_tokens: int) -> None:
    reference, pretrained = random_model("Longformer").double(), published("Longformer")
    for name, module in reference.named_modules():
        if name.endswith("_global"):
            module.load_state_dict(reference.get_submodule(name.removesuffix("_global")).state_dict())
    encoder = Encoder(pretrained.config, window=WINDOW, dropout=0.1, global_tokens=global_tokens).double().eval()
    encoder.load_state_dict(pretrained.weights)
    tokens, mask = padded_batch(length, pad_id=PAD["Longformer"])
    front = (torch.arange(length) <= global_tokens).expand_as(mask) & mask
    wanted = reference(
        input_ids=tokens, attention_mask=mask.long(), global_attention_mask=front.long()
    ).last_hidden_state
    assert_close(encoder(tokens, mask)[mask], wanted[mask])


@given(
    windows=st.integers(1, 3),
    length=st.integers(1, 40),
    reach=st.integers(1, 5),
    front=st.integers(1, 12),
    seed=st.integers(0, 9),
)
def test_global_tokens_are_seen_by_all_and_see_all(
    windows: int, length: int, reach: int, front: int, seed: int
) -> None:
    """Against plain softmax attention under a mask that is filled in pair by pair."""
    torch.manual_seed(seed)
    mask = torch.arange(length) < torch.randint(1, length + 1, (windows, 1))
    qkv = torch.randn(windows, length, 3, 2, 4, dtype=torch.float64)
    seen = torch.zeros(windows, 1, length, length, dtype=torch.bool)
    for row in range(windows):
        for i in range(length):
            for j in range(length):
                seen[row, 0, i, j] = bool(mask[row, j]) and (abs(i - j) <= reach or i < front or j < front)
    queries, keys, values = qkv.permute(2, 0, 3, 1, 4).unbind(0)
    scores = (queries @ keys.transpose(-1, -2) / 2).masked_fill(~seen, -torch.inf)
    wanted = (scores.softmax(-1) @ values).transpose(1, 2).flatten(2)
    got = attention(mask, window=2 * reach, front=front, dtype=torch.float64)(qkv)
    assert got.isfinite().all()
    torch.testing.assert_close(got[mask], wanted[mask], rtol=0, atol=1e-12)


def test_attention_dropout_is_active_in_training_only() -> None:
    tokens, mask = padded_batch(40, pad_id=1)
    for front in (0, 3):
        torch.manual_seed(3)
        encoder = Encoder(SMALL, window=WINDOW, dropout=0.0, attention_dropout=0.5, global_tokens=front).double()
        assert not torch.equal(encoder(tokens, mask), encoder(tokens, mask))
        encoder.eval()
        assert torch.equal(encoder(tokens, mask), encoder(tokens, mask))


def test_longformer_base_has_no_parameter_too_many() -> None:
    config = EncoderConfig(
        family="longformer",
        vocab_size=50265,
        hidden=768,
        layers=12,
        heads=12,
        intermediate=3072,
        positions=4098,
        position_offset=2,
        token_types=1,
    )
    with torch.device("meta"):
        encoder = Encoder(config, window=128, dropout=0.1)
    assert sum(parameter.numel() for parameter in encoder.parameters()) == 126_807_552


@given(
    windows=st.integers(1, 3),
    length=st.integers(1, 40),
    reach=st.integers(1, 9),
    seed=st.integers(0, 9),
)
def test_blocks_are_pairs_under_a_band(windows: int, length: int, reach: int, seed: int) -> None:
    torch.manual_seed(seed)
    mask = torch.arange(length) < torch.randint(1, length + 1, (windows, 1))
    qkv = torch.randn(windows, length, 3, 2, 4, dtype=torch.float64)
    pairs = full_attention(qkv, bias=as_bias(band(mask, reach)[:, None], qkv.dtype))
    window, _ = torch.nonzero(mask, as_tuple=True)
    packed = packed_attention(window, reach=reach, dtype=qkv.dtype)(qkv[mask][None])[0]
    assert packed.isfinite().all()
    torch.testing.assert_close(packed, pairs[mask], rtol=0, atol=1e-12)


@pytest.mark.parametrize("padding", [0, 300])
def test_a_batch_costs_its_tokens_and_not_its_padding(padding: int) -> None:
    encoder, mask = small_encoder(WINDOW), torch.zeros(3, 40 + padding, dtype=torch.bool)
    mask[0, :40], mask[1, :7], mask[2, :1] = True, True, True
    with FlopCounterMode(display=False) as work, torch.no_grad():
        encoder(torch.full(mask.shape, 7), mask)
    per_token = 2 * (4 * SMALL.hidden**2 + 2 * SMALL.hidden * SMALL.intermediate)
    assert work.get_total_flops() < 2.5 * SMALL.layers * per_token * int(mask.sum())


@given(length=st.integers(1, 30), reach=st.integers(1, 8))
def test_band_is_what_the_method_says(length: int, reach: int) -> None:
    mask = torch.ones(1, length, dtype=torch.bool)
    mask[0, length // 2 + 1 :] = False
    seen = band(mask, reach)[0]
    wanted = [[abs(i - j) <= reach and bool(mask[0, j]) for j in range(length)] for i in range(length)]
    assert seen.tolist() == wanted


@pytest.mark.parametrize("window", [0, 2, WINDOW])
@pytest.mark.parametrize("padding", [1, 5, 40])
def test_padding_and_neighbors_never_change_real_states(window: int, padding: int) -> None:
    encoder = small_encoder(window)
    tokens, mask = padded_batch(11, pad_id=1)
    alone = encoder(tokens[:1], mask[:1])
    shape = (len(tokens), padding)
    longer = encoder(
        torch.cat([tokens, torch.randint(5, VOCAB, shape)], 1), torch.cat([mask, torch.zeros(shape).bool()], 1)
    )
    assert longer.isfinite().all()
    torch.testing.assert_close(longer[:1, :11], alone, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("window", "length"), [(0, 6), (WINDOW, 6), (WINDOW, 30)])
def test_a_window_with_no_real_token_is_finite_forwards_and_backwards(window: int, length: int) -> None:
    encoder = small_encoder(window)
    tokens, mask = padded_batch(length, pad_id=1)
    mask[1] = False
    states = encoder(tokens, mask)
    torch.autograd.backward(weighted_sum(states, mask))
    assert states.isfinite().all()
    assert all(gradient.isfinite().all() for gradient in gradients(encoder).values())


@given(changed=st.integers(0, 39))
def test_one_layer_carries_a_change_exactly_half_a_window(changed: int) -> None:
    encoder = small_encoder(WINDOW, layers=1)
    tokens, mask = torch.full((1, 40), 7), torch.ones(1, 40, dtype=torch.bool)
    other = tokens.clone()
    other[0, changed] = 9
    with torch.no_grad():
        moved = (encoder(tokens, mask) - encoder(other, mask)).abs().amax(-1)[0] > 1e-9
    assert moved.tolist() == [abs(place - changed) <= WINDOW // 2 for place in range(40)]


def test_positions_beyond_the_table_start_again_after_the_offset_rows() -> None:
    encoder = small_encoder(WINDOW)
    states = encoder.embed(torch.full((1, 25), 7))[0]
    usable = SMALL.positions - SMALL.position_offset
    rows = encoder.positions.weight[[SMALL.position_offset + place % usable for place in range(25)]]
    assert encoder.types is not None
    wanted = encoder.norm(encoder.token_embeddings.weight[7] + rows + encoder.types.weight[0])
    torch.testing.assert_close(states, wanted, rtol=0, atol=1e-12)
    assert not torch.allclose(states[0], states[1])


def test_dropout_is_active_in_training_only() -> None:
    encoder = small_encoder(WINDOW)
    tokens, mask = padded_batch(20, pad_id=1)
    assert torch.equal(encoder(tokens, mask), encoder(tokens, mask))
    encoder.train()
    assert not torch.equal(encoder(tokens, mask), encoder(tokens, mask))


def small_encoder(window: int, *, layers: int = 2, letter_case: bool = False) -> Encoder:
    torch.manual_seed(3)
    config = msgspec.structs.replace(SMALL, layers=layers)
    return Encoder(config, window=window, dropout=0.5, letter_case=letter_case).double().eval()


@pytest.mark.parametrize("window", [0, WINDOW])
def test_what_has_no_capital_is_read_as_if_capitals_were_not(window: int) -> None:
    encoder, told = small_encoder(window), small_encoder(window, letter_case=True)
    assert told.cases is not None
    told.load_state_dict(encoder.state_dict() | {"cases.weight": torch.zeros_like(told.cases.weight)})
    tokens, mask = padded_batch(20, pad_id=1)
    case = torch.arange(1, 21).expand(mask.shape) % CASES
    assert_close(told(tokens, mask, case)[mask], encoder(tokens, mask)[mask])  # it begins with 0
    nn.init.normal_(told.cases.weight)
    assert_close(told(tokens, mask)[mask], told(tokens, mask, torch.zeros_like(case))[mask])
    changed = (told(tokens, mask, case) - told(tokens, mask)).abs().amax(-1)
    assert (changed[mask] > 1e-6).all()
