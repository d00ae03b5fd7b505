"""How alike a mention in its document and an entity are: a bi-encoder, beside the paper's two scores.

The paper's f(x, m, t) knows an entity by its name alone. This also reads what the knowledge base says of it, so that
entities that training never showed are told apart by it:

    mention     q = FFNN [state of its first token ; of its last ; mean of all states ; words around it ; all words]
    entity      e = FFNN [words of its title ; words of its description]
    similarity  q . e / sqrt(size)

Words are the encoder's word embeddings, averaged by a weight that is learned for each. e depends on the entity alone,
so that linking computes it once for each, and a mention costs one product a candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from parlink.config import DESCRIPTION_TOKENS, SURROUNDING_TOKENS, ModelConfig
from parlink.nn.batch import Batch
from parlink.nn.detector import Mentions, feed_forward

TOKENS = DESCRIPTION_TOKENS
AROUND = SURROUNDING_TOKENS


@dataclass(frozen=True, slots=True)
class Words:
    """The token ids of some texts."""

    tokens: Tensor  # (tokens,) of all texts, one after the other
    lengths: Tensor  # (texts,) how many tokens each has

    @classmethod
    def build(cls, texts: Sequence[Sequence[int]]) -> Words:
        """Gather token ids; a text may be empty."""
        tokens = torch.tensor([token for tokens in texts for token in tokens], dtype=torch.long)
        return cls(tokens, torch.tensor([len(tokens) for tokens in texts], dtype=torch.long))

    def to(self, device: torch.device | str) -> Words:
        """The same texts on another device."""
        return Words(self.tokens.to(device), self.lengths.to(device))


class Similarity(nn.Module):
    """Vectors of mentions and of entities, to be multiplied."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        hidden, size = config.encoder.hidden, config.similarity
        self.word_weight = nn.Parameter(torch.zeros(config.encoder.vocab_size))
        self.mention = feed_forward(5 * hidden, 2 * size, size, dropout=config.dropout)
        self.entity = feed_forward(2 * hidden, 2 * size, size, dropout=config.dropout)
        self.scale = size**-0.5

    def mentions(self, states: Tensor, mentions: Mentions, batch: Batch, word_embeddings: Tensor) -> Tensor:
        """The vector of each mention in its window, (mentions, size)."""
        row, first, last = mentions.row, mentions.first, mentions.last
        share = batch.content / batch.content.sum(1, keepdim=True).clamp(min=1)
        document = torch.einsum("wl,wlh->wh", share.to(states.dtype), states)
        around, words = self.surroundings(mentions, batch, word_embeddings)
        return self.read_mentions(states[row, first], states[row, last], document[row], around, words)

    def read_mentions(self, *known: Tensor) -> Tensor:
        """The vectors of mentions, (mentions, size), of what is known of each, in the order above."""
        vectors: Tensor = self.mention(torch.cat(known, -1)) * self.scale
        return vectors

    def surroundings(self, mentions: Mentions, batch: Batch, word_embeddings: Tensor) -> tuple[Tensor, Tensor]:
        """The mean of the words around each mention, its own left out, and of all of its window: (mentions, hidden)."""
        weight = F.softplus(self.word_weight[batch.tokens]) * batch.content
        weighted = weight[..., None] * word_embeddings.detach()[batch.tokens]
        sums = F.pad(torch.cat([weighted, weight[..., None]], -1).cumsum(1), (0, 0, 1, 0))  # up to each token
        row, length = mentions.row, batch.tokens.shape[1]
        far = (
            sums[row, (mentions.last + 1 + AROUND).clamp(max=length)]
            - sums[row, (mentions.first - AROUND).clamp(min=0)]
        )
        own = sums[row, mentions.last + 1] - sums[row, mentions.first]
        around, every = far - own, sums[row, -1]
        return around[:, :-1] / around[:, -1:].clamp(min=1e-6), every[:, :-1] / every[:, -1:].clamp(min=1e-6)

    def entities(self, titles: Words, descriptions: Words, word_embeddings: Tensor) -> Tensor:
        """The vector of each entity, (entities, size); nothing need be said of it."""
        read = [self.average(words, word_embeddings) for words in (titles, descriptions)]
        return self.read_entities(*read)

    def read_entities(self, *known: Tensor) -> Tensor:
        """The vectors of entities, (entities, size), of the words of title and description."""
        vectors: Tensor = self.entity(torch.cat(known, -1))
        return vectors

    def average(self, words: Words, word_embeddings: Tensor) -> Tensor:
        """The weighted mean of the words of each text, (texts, hidden), 0 for an empty one.

        The word embeddings are taken as they are and not trained by this.
        """
        weight = F.softplus(self.word_weight[words.tokens])
        text = torch.repeat_interleave(words.lengths)
        total = weight.new_zeros(len(words.lengths)).index_add(0, text, weight)
        first = words.lengths.cumsum(0) - words.lengths
        share = (weight / total[text]).to(word_embeddings.dtype)
        return F.embedding_bag(words.tokens, word_embeddings.detach(), first, mode="sum", per_sample_weights=share)
