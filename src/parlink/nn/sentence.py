"""What a stretch of text says, as one vector: a sentence embedding, read off states that the encoder has anyway.

    vector = W [mean of the states ; mean of the word embeddings] + b, scaled to length 1

The mean of word embeddings that `nn.similarity` knows an entity by tells that a skipper has to do with boats no better
than words alone do. This is distilled from an encoder of sentences (`recipes/sentence`), which can tell: the stretch of
text around a mention and what is said of an entity are near each other if they are about the same. An entity must be
read by the encoder for that, so it is for knowledge bases that are small enough to be read.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from parlink.model_config import SENTENCE_REACH, ModelConfig
from parlink.nn.batch import Batch
from parlink.nn.detector import Mentions
from parlink.nn.linear import Linear


class SentenceHead(nn.Module):
    """The vectors of stretches of encoded text."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.project = Linear(2 * config.encoder.hidden, config.sentence)
        self.strength = nn.Parameter(torch.ones(()), requires_grad=False)  # of the cosine, beside the bi-encoder's sum

    def forward(self, states: Tensor, words: Tensor) -> Tensor:
        """The vectors of stretches of text, (stretches, size), of the mean states and mean words of each."""
        return F.normalize(self.project(torch.cat([states, words], -1)), dim=-1)

    def around(self, states: Tensor, mentions: Mentions, batch: Batch, word_embeddings: Tensor) -> Tensor:
        """The vectors of the text around each mention, (mentions, size), as long as a cosine counts."""
        first = (mentions.first - SENTENCE_REACH).clamp(min=1)
        last = torch.minimum(mentions.last + SENTENCE_REACH, batch.content.sum(1)[mentions.row])
        return self.strength * self.stretches(states, batch, mentions.row, first, last, word_embeddings)

    def whole(self, states: Tensor, batch: Batch, word_embeddings: Tensor) -> Tensor:
        """The vectors of whole windows, (windows, size)."""
        row = torch.arange(len(states), device=states.device)
        return self.stretches(states, batch, row, torch.ones_like(row), batch.content.sum(1), word_embeddings)

    def stretches(
        self, states: Tensor, batch: Batch, row: Tensor, first: Tensor, last: Tensor, word_embeddings: Tensor
    ) -> Tensor:
        """The vectors of tokens `first` to `last`, inclusive, of windows `row`."""
        words = F.embedding(batch.tokens, word_embeddings)
        vectors: Tensor = self(*(range_means(values, row, first, last) for values in (states, words)))
        return vectors


def range_means(values: Tensor, row: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """The means of ranges of each row, (ranges, hidden); an empty one has 0."""
    sums = F.pad(values.cumsum(1), (0, 0, 1, 0))  # sums[:, i] is that of all before i
    count = (last + 1 - first).clamp(min=1)
    return (sums[row, last + 1] - sums[row, first]) / count[:, None]
