"""Mention detection: p(mention) = p(start) p(end | start), section 2.1 of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from parlink.model_config import ModelConfig
from parlink.nn.batch import Batch


@dataclass(frozen=True, slots=True)
class Mentions:
    """Spans of tokens, flattened over the windows of a batch."""

    row: Tensor  # (mentions,) which window
    first: Tensor  # (mentions,) first token, inclusive
    last: Tensor  # (mentions,) last token, inclusive

    def __getitem__(self, index: Tensor) -> Mentions:
        return Mentions(self.row[index], self.first[index], self.last[index])

    def to(self, device: torch.device | str) -> Mentions:
        """The same mentions on another device."""
        return Mentions(self.row.to(device), self.first.to(device), self.last.to(device))

    @classmethod
    def cat(cls, parts: Sequence[Mentions]) -> Mentions:
        """Join mentions of the same batch."""
        return cls(*(torch.cat([getattr(part, field) for part in parts]) for field in cls.__slots__))


@dataclass(frozen=True, slots=True)
class Detection:
    """Detected mentions and how sure the detector is of them."""

    mentions: Mentions
    start_logit: Tensor  # (mentions,)
    log_probability: Tensor  # (mentions,) log p(start) + log p(end | start)


def feed_forward(inputs: int, hidden: int, outputs: int, *, dropout: float) -> nn.Sequential:
    """Build the paper's FFNN [LayerNorm, hidden, ReLU, LayerNorm, outputs], with dropout before each linear map."""
    return nn.Sequential(
        nn.LayerNorm(inputs),
        nn.Dropout(dropout),
        nn.Linear(inputs, hidden),
        nn.ReLU(),
        nn.LayerNorm(hidden),
        nn.Dropout(dropout),
        nn.Linear(hidden, outputs),
    )


class Detector(nn.Module):
    """Scores the start of a mention at every token, and its end given its start."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.max_mention_tokens = config.max_mention_tokens
        hidden = config.encoder.hidden
        self.start = feed_forward(hidden, config.detector_hidden, 1, dropout=config.dropout)
        self.end = feed_forward(2 * hidden, config.detector_hidden, 1, dropout=config.dropout)

    def start_logits(self, states: Tensor) -> Tensor:
        """Logit of "a mention starts here" at each of the states (..., hidden), such as (windows, length)."""
        logits: Tensor = self.start(states).squeeze(-1)
        return logits

    def end_logits(self, states: Tensor, content: Tensor, row: Tensor, first: Tensor) -> Tensor:
        """Logit of each mention length from 1 to the limit, (mentions, lengths); impossible ends are -inf."""
        last = first[:, None] + torch.arange(self.max_mention_tokens, device=first.device)
        inside = last < states.shape[1]
        last = last.clamp(max=states.shape[1] - 1)
        possible = inside & content[row[:, None], last]
        logits = self.score_ends(states[row, first], states[row[:, None], last])
        return logits.masked_fill(~possible, -torch.inf)

    def score_ends(self, first: Tensor, last: Tensor) -> Tensor:
        """Logit of each end of a mention, (mentions, ends), of the states there and at its start (mentions, hidden)."""
        logits: Tensor = self.end(torch.cat([first[:, None].expand_as(last), last], -1)).squeeze(-1)
        return logits


def judge(detector: Detector, states: Tensor, batch: Batch, mentions: Mentions) -> Detection:
    """Say how sure the detector is of spans that others propose; one longer than any mention is impossible."""
    start_logit = detector.start_logits(states[mentions.row, mentions.first])
    ends = detector.end_logits(states, batch.content, mentions.row, mentions.first)
    length = mentions.last - mentions.first
    possible = length < detector.max_mention_tokens
    place = length.clamp(max=detector.max_mention_tokens - 1)[:, None]
    log_end = F.log_softmax(ends, -1).gather(-1, place).squeeze(-1).masked_fill(~possible, -torch.inf)
    return Detection(mentions, start_logit, F.logsigmoid(start_logit) + log_end)


def detect(detector: Detector, states: Tensor, batch: Batch, *, threshold: float) -> Detection:
    """Keep the starts above the threshold, each with its most probable end."""
    logits = detector.start_logits(states)
    row, first = torch.nonzero(batch.owned & (logits > threshold), as_tuple=True)
    ends = detector.end_logits(states, batch.content, row, first)
    length = ends.argmax(-1) if len(row) else row
    log_end = F.log_softmax(ends, -1).gather(-1, length[:, None]).squeeze(-1)
    start_logit = logits[row, first]
    return Detection(Mentions(row, first, first + length), start_logit, F.logsigmoid(start_logit) + log_end)
