"""How alike a mention in its document and an entity are: a bi-encoder, beside the paper's two scores.

The paper's f(x, m, t) knows an entity by its name alone. This also reads what the knowledge base says of it, so that
entities that training never showed are told apart by it:

    mention     q = FFNN [state of its first token ; of its last ; mean of the window's states] / sqrt(size)
    entity      e = FFNN [words of its title ; words of its description]
    similarity  q . e, and where the encoder has read what is said of the entity, the cosine of `nn.sentence` besides

Words are the encoder's word embeddings, averaged by a weight that is learned for each. e depends on the entity alone,
so that linking computes it once for each, and a mention costs one product a candidate. Beside it stands, as a part of
its own, what need not be learned:

    overlap     how much of the description the window speaks of: the mean over the description's words, weighted by
                how rare they are, of how near the nearest word of the window is
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from parlink.model_config import DESCRIPTION_TOKENS, FEW_WORDS, UNLIKE_WORDS, ModelConfig
from parlink.nn.batch import Batch
from parlink.nn.detector import Mentions, feed_forward
from parlink.nn.forest import Integers, lay_flat

TOKENS, UNLIKE, FEW = DESCRIPTION_TOKENS, UNLIKE_WORDS, FEW_WORDS


@dataclass(frozen=True, slots=True)
class Words:
    """The token ids of some texts."""

    tokens: Tensor  # (tokens,) of all texts, one after the other
    lengths: Tensor  # (texts,) how many tokens each has

    @classmethod
    def build(cls, texts: Sequence[Sequence[int] | Integers]) -> Words:
        """Gather token ids; a text may be empty."""
        flat, lengths = lay_flat(texts)
        return cls(torch.from_numpy(flat), torch.from_numpy(lengths))

    @classmethod
    def of_windows(cls, batch: Batch) -> Words:
        """The words of each window of a batch, special tokens left out."""
        return cls(batch.tokens[batch.content], batch.content.sum(1))

    @property
    def first(self) -> Tensor:
        """Where each text begins, (texts,)."""
        return self.lengths.cumsum(0) - self.lengths

    def __getitem__(self, texts: Tensor) -> Words:
        lengths = self.lengths[texts]
        shift = self.first[texts] - (lengths.cumsum(0) - lengths)
        return Words(
            self.tokens[torch.arange(int(lengths.sum())).to(lengths) + shift.repeat_interleave(lengths)], lengths
        )

    def to(self, device: torch.device | str) -> Words:
        """The same texts on another device."""
        return Words(self.tokens.to(device), self.lengths.to(device))


@dataclass(frozen=True, slots=True)
class Queries:
    """Mentions as they are compared with entities."""

    vectors: Tensor  # (mentions, size)
    window: Tensor  # (mentions,) which window each is in
    words: Words  # of the windows
    around: Tensor | None = None  # (mentions, sentence size) of the text around each, of a model with `nn.sentence`

    def __getitem__(self, index: Tensor | slice | list[int]) -> Queries:
        around = None if self.around is None else self.around[index]
        return Queries(self.vectors[index], self.window[index], self.words, around)


@dataclass(frozen=True, slots=True)
class Entities:
    """Entities as mentions are compared with them."""

    vectors: Tensor  # (entities, size)
    descriptions: Words
    said: Tensor | None = None  # (entities, sentence size) of what is said of each, where the encoder has read it


class Similarity(nn.Module):
    """Vectors of mentions and of entities, and how alike they are."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        hidden, size = config.encoder.hidden, config.similarity
        self.word_weight = nn.Parameter(torch.zeros(config.encoder.vocab_size))
        self.rarity = nn.Parameter(torch.ones(config.encoder.vocab_size), requires_grad=False)  # of words, in text
        self.center = nn.Parameter(torch.zeros(hidden), requires_grad=False)  # of the word embeddings
        self.mention = feed_forward(3 * hidden, 2 * size, size, dropout=config.dropout)
        self.entity = feed_forward(2 * hidden, 2 * size, size, dropout=config.dropout)
        self.scale = size**-0.5

    def mentions(self, states: Tensor, mentions: Mentions, batch: Batch) -> Queries:
        """What is compared of each mention of encoded windows."""
        share = batch.content / batch.content.sum(1, keepdim=True).clamp(min=1)
        document = torch.einsum("wl,wlh->wh", share.to(states.dtype), states)
        row = mentions.row
        vectors = self.read_mentions(states[row, mentions.first], states[row, mentions.last], document[row])
        return Queries(vectors, row, Words.of_windows(batch))

    def read_mentions(self, first: Tensor, last: Tensor, document: Tensor) -> Tensor:
        """The vectors of mentions, (mentions, size), of three states of each."""
        vectors: Tensor = self.mention(torch.cat([first, last, document], -1)) * self.scale
        return vectors

    def entities(self, titles: Words, descriptions: Words, word_embeddings: Tensor) -> Entities:
        """What is compared of entities; nothing need be said of them."""
        read = [self.average(words, word_embeddings) for words in (titles, descriptions)]
        return Entities(self.read_entities(*read), descriptions)

    def read_entities(self, title: Tensor, description: Tensor) -> Tensor:
        """The vectors of entities, (entities, size), of the mean words of title and description of each."""
        vectors: Tensor = self.entity(torch.cat([title, description], -1))
        return vectors

    def compare(
        self, queries: Queries, mention: Tensor, entities: Entities, entity: Tensor, word_embeddings: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Similarity and overlap of mention `mention[i]` and entity `entity[i]`, (pairs,) each."""
        similarity = (queries.vectors[mention] * entities.vectors[entity]).sum(-1)
        if queries.around is not None and entities.said is not None:
            similarity = similarity + (queries.around[mention] * entities.said[entity]).sum(-1)
        window = queries.window[mention]
        return similarity, self.overlap(queries.words, window, entities.descriptions, entity, word_embeddings)

    def average(self, words: Words, word_embeddings: Tensor) -> Tensor:
        """The weighted mean of the words of each text, (texts, hidden), 0 for an empty one.

        The word embeddings are taken as they are and not trained by this.
        """
        weight = F.softplus(self.word_weight[words.tokens])
        text = torch.repeat_interleave(words.lengths)
        share = (weight / _sums(weight, words)[text]).to(word_embeddings.dtype)
        return F.embedding_bag(
            words.tokens, word_embeddings.detach(), words.first, mode="sum", per_sample_weights=share
        )

    @torch.no_grad()
    def overlap(
        self, windows: Words, window: Tensor, descriptions: Words, entity: Tensor, word_embeddings: Tensor
    ) -> Tensor:
        """How much of the description of `entity[i]` the window `window[i]` speaks of, (pairs,), from 0 to 1."""
        result = self.rarity.new_zeros(len(entity))
        for row in torch.unique(window):  # each window has words of its own to compare with
            pairs = torch.nonzero(window == row).flatten()
            distinct, place = torch.unique(entity[pairs], return_inverse=True)
            said = descriptions[distinct]
            near = self.nearness(said.tokens, windows[row[None]].tokens, word_embeddings)
            rarity = self.rarity[said.tokens]
            spoken = _sums(rarity * near, said) / (_sums(rarity, said) + FEW)
            result[pairs] = spoken[place]
        return result

    def nearness(self, tokens: Tensor, context: Tensor, word_embeddings: Tensor) -> Tensor:
        """How near the nearest word of a context is to each token, (tokens,), from 0 to 1."""
        distinct, place = torch.unique(tokens, return_inverse=True)
        if not len(tokens) or not len(context):
            return word_embeddings.new_zeros(len(tokens))
        said, spoken = (
            F.normalize(word_embeddings[ids] - self.center, dim=1) for ids in (distinct, torch.unique(context))
        )
        cosine = (said @ spoken.T).amax(1)
        return ((cosine - UNLIKE).clamp(min=0) / (1 - UNLIKE))[place]


def _sums(values: Tensor, words: Words) -> Tensor:
    """The sum of what each text's tokens have, (texts,)."""
    return values.new_zeros(len(words.lengths)).index_add(0, torch.repeat_interleave(words.lengths), values)
