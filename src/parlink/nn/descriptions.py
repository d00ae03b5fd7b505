"""What the correction may read besides a mention and a name: what is said of the entity, and the document.

The paper's f(x, m, t) knows an entity by its name alone. A model with `descriptions` also reads what the knowledge base
says of it, and one with `document_vector` what the text around the mention is about. Both join the classifier behind
its first matrix, through matrices that are 0 at first, so that a model without them goes on as it was:

    context      q = norm(A mention + B document)
    description  d = norm(C mean of its first word embeddings), or a vector that is learned where there is none
    classifier   hidden layer + D q + E [d ; d * q]

d depends on the description alone, so that linking computes it once for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from parlink.config import ModelConfig

TOKENS = 32  # of a description, that are read


@dataclass(frozen=True, slots=True)
class Descriptions:
    """What is said of some names; each text is there once."""

    tokens: Tensor  # (tokens,) of all texts, one after the other
    first: Tensor  # (texts,) where each begins
    text: Tensor  # (names,) the text of each name, counted from 1; 0: there is none

    @classmethod
    def build(cls, texts: Sequence[Sequence[int]]) -> Descriptions:
        """Gather the token ids of what is said of each name; empty where nothing is."""
        number: dict[Sequence[int], int] = {(): 0}
        text = [number.setdefault(tuple(tokens[:TOKENS]), len(number)) for tokens in texts]
        distinct = [tokens for tokens in number if tokens]
        starts = torch.tensor([0, *(len(tokens) for tokens in distinct)], dtype=torch.long).cumsum(0)[:-1]
        flat = torch.tensor([token for tokens in distinct for token in tokens], dtype=torch.long)
        return cls(flat, starts, torch.tensor(text, dtype=torch.long))

    def to(self, device: torch.device | str) -> Descriptions:
        """The same descriptions on another device."""
        return Descriptions(self.tokens.to(device), self.first.to(device), self.text.to(device))


class ClassifierInputs(nn.Module):
    """The further inputs of the classifier."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        hidden = config.encoder.hidden
        self.mention = nn.Linear(hidden, hidden)
        self.document = _zero(hidden, hidden) if config.document_vector else None
        self.context_norm = nn.LayerNorm(hidden)
        self.of_context = _zero(hidden, hidden)
        self.dropout = nn.Dropout(config.dropout)
        if config.descriptions:
            self.projection = nn.Linear(hidden, hidden)
            self.missing = nn.Parameter(nn.init.normal_(torch.empty(hidden)))
            self.description_norm = nn.LayerNorm(hidden)
            self.of_description = _zero(2 * hidden, hidden)
        self.has_descriptions = config.descriptions

    def context(self, vector: Tensor, document: Tensor) -> Tensor:
        """What is known of each mention, (mentions, hidden), of its vector and that of its document."""
        mixed = self.mention(self.dropout(vector))
        if self.document is not None:
            mixed = mixed + self.document(self.dropout(document))
        normed: Tensor = self.context_norm(mixed)
        return normed

    def read(self, descriptions: Descriptions, token_embeddings: Tensor) -> Tensor:
        """The vector of no description, then that of each text: (1 + texts, hidden).

        The word embeddings are taken as they are and not trained by this.
        """
        return self.project(
            F.embedding_bag(descriptions.tokens, token_embeddings.detach(), descriptions.first, mode="mean")
        )

    def project(self, means: Tensor) -> Tensor:
        """The same of the mean word embeddings of texts."""
        vectors: Tensor = self.description_norm(torch.cat([self.missing[None], self.projection(means)]))
        return vectors

    def forward(self, context: Tensor, described: Tensor | None) -> Tensor:
        """What is added to the hidden layer of the classifier, (names, hidden); None: nothing is said of any name."""
        added: Tensor = self.of_context(self.dropout(context))
        if not self.has_descriptions:
            return added
        if described is None:
            described = self.description_norm(self.missing).expand_as(context)
        both = torch.cat([described, described * context], -1)
        added += self.of_description(self.dropout(both))
        return added


def _zero(inputs: int, outputs: int) -> nn.Linear:
    linear = nn.Linear(inputs, outputs, bias=False)
    nn.init.zeros_(linear.weight)
    return linear
