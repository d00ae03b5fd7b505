"""Mention detection: p(mention) = p(start) p(end | start), section 2.1 of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from parlink.model_config import ModelConfig
from parlink.nn.batch import Batch
from parlink.nn.linear import Linear, linear


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
        Linear(inputs, hidden),
        nn.ReLU(),
        nn.LayerNorm(hidden),
        nn.Dropout(dropout),
        Linear(hidden, outputs),
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
        length = states.shape[1]
        last = first[:, None] + torch.arange(self.max_mention_tokens, device=first.device)
        inside = last < length
        last = last.clamp(max=length - 1)
        possible = inside & content[row[:, None], last]
        if self.training:  # dropout is drawn for each pair
            logits = self._read_pairs(states[row, first], states[row[:, None], last])
        else:
            token = row[:, None] * length + last  # in all windows laid end to end; the first end is the start itself
            wanted = torch.zeros(content.numel(), dtype=torch.bool, device=states.device)
            wanted[token] = True
            place = (wanted.cumsum(0) - 1)[token]
            logits = self.score_ends(states.flatten(0, 1)[wanted], place[:, 0], place)
        return logits.masked_fill(~possible, -torch.inf)

    def score_ends(self, states: Tensor, first: Tensor, last: Tensor) -> Tensor:
        """Logit of each end of a mention, (mentions, ends): states (tokens, hidden), of which they are `first`, `last`.

        The norm and the first linear map are of a start and an end put together. What either adds to them is worked out
        once a token, in place of once a pair.
        """
        norm, first_map = self.end[0], self.end[2]
        assert isinstance(norm, nn.LayerNorm) and isinstance(first_map, nn.Linear), "dropout stands between them"
        weight, hidden = first_map.weight * norm.weight, states.shape[1]
        weight = weight - weight.mean(1, keepdim=True)  # takes the mean of what it is multiplied with out of it
        starts, ends = linear(states[first], weight[:, :hidden])[:, None], linear(states, weight[:, hidden:])
        mean, square = states.mean(1), states.square().mean(1)
        variance = square - mean.square()
        of_both = (variance[first][:, None] + variance[last]) / 2 + ((mean[first][:, None] - mean[last]) / 2).square()
        inputs = (starts + ends[last]) * (of_both + norm.eps).rsqrt()[..., None]
        inputs = inputs + linear(norm.bias, first_map.weight, first_map.bias)
        for module in list(self.end)[3:]:
            inputs = module(inputs)
        return inputs.squeeze(-1)

    def _read_pairs(self, first: Tensor, last: Tensor) -> Tensor:
        """The same of the states of starts (mentions, hidden) and ends (mentions, ends, hidden), pair by pair."""
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
