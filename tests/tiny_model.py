"""Tiny real models with random weights, made in milliseconds, the same in every process."""

from __future__ import annotations

import msgspec
import torch

from parlink.checkpoint.folder import Checkpoint
from parlink.config import Tuned
from parlink.model_config import EncoderConfig, ModelConfig
from parlink.nn.decoder import MentionStates
from parlink.nn.model import LinkingModel
from tiny import byte_level_bpe

ENCODER = EncoderConfig(
    family="roberta", vocab_size=16, hidden=8, layers=1, heads=2, intermediate=16, positions=66, position_offset=2
)


def tiny_model(*, seed: int = 0, vocab_size: int = 16, spread: float = 1.0, **changes: object) -> LinkingModel:
    """A model whose random weights are `spread` times as large as usual, so that scores differ."""
    torch.manual_seed(seed)
    encoder = msgspec.structs.replace(ENCODER, vocab_size=vocab_size)
    settings: dict[str, object] = {"max_tokens": 64, "overlap": 30, "window": 8, "detector_hidden": 8}
    model = LinkingModel(ModelConfig(encoder=encoder, **(settings | changes)))  # type: ignore[arg-type]
    with torch.no_grad():
        if model.encoder.cases is not None:  # which begin as 0
            torch.nn.init.normal_(model.encoder.cases.weight, generator=torch.Generator().manual_seed(seed))
        for parameter in model.parameters():
            parameter.mul_(spread)
    return model.eval()


def tiny_checkpoint(**changes: object) -> Checkpoint:
    """A tiny model that reads text."""
    tokenizer = byte_level_bpe()
    return Checkpoint(tiny_model(vocab_size=tokenizer.vocab_size, **changes), tokenizer, Tuned())  # type: ignore[arg-type]


def random_mentions(model: LinkingModel, count: int, *, seed: int = 1) -> MentionStates:
    """Mention states without a text."""
    rng = torch.Generator().manual_seed(seed)
    width, kind = model.config.encoder.hidden, next(model.parameters()).dtype
    return MentionStates(*(torch.randn(count, width, generator=rng).to(kind) for _ in range(3)))
