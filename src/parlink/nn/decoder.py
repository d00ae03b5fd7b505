"""Entity disambiguation: an LSTM reads the names of all mentions at once, section 2.2 of the paper.

Names come as a `PrefixTree` with one root a mention, so that a prefix that several names of a mention
share is read once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from parlink.model_config import ModelConfig
from parlink.nn.detector import Mentions, feed_forward
from parlink.nn.linear import Linear
from parlink.nn.lstm import Int8Lstm, Lstm
from parlink.nn.prefix_tree import PrefixTree
from parlink.nn.similarity import Queries


@dataclass(frozen=True, slots=True)
class MentionStates:
    """What the decoder knows of each mention."""

    hidden: Tensor  # (mentions, hidden) the LSTM's first hidden state
    cell: Tensor  # (mentions, hidden) its first cell state
    vector: Tensor  # (mentions, hidden) appended to the input of every step
    queries: Queries | None = None  # to compare with entities, of a model that has a bi-encoder

    def __getitem__(self, index: Tensor | slice | list[int]) -> MentionStates:
        queries = None if self.queries is None else self.queries[index]
        return MentionStates(self.hidden[index], self.cell[index], self.vector[index], queries)


@dataclass(frozen=True, slots=True)
class Reading:
    """The LSTM's state after each token of each name."""

    hidden: Tensor  # (nodes, hidden)
    cell: Tensor  # (nodes, hidden)


@dataclass(frozen=True, slots=True)
class NameScores:
    """Names of mentions, in any order, with the two parts of the score that the model gives them."""

    mention: Tensor  # (names,) whose name it is
    name: Tensor  # (names,) as numbered in a tree
    lm: Tensor  # (names,) mean log-likelihood, </s> included
    classifier: Tensor  # (names,) raw logit of the discriminative correction

    def __getitem__(self, index: Tensor) -> NameScores:
        return NameScores(self.mention[index], self.name[index], self.lm[index], self.classifier[index])

    def cpu(self) -> NameScores:
        """The same names on the CPU."""
        return NameScores(self.mention.cpu(), self.name.cpu(), self.lm.cpu(), self.classifier.cpu())

    @classmethod
    def empty(cls) -> NameScores:
        """No names."""
        return cls(torch.empty(0).long(), torch.empty(0).long(), torch.empty(0), torch.empty(0))

    @classmethod
    def cat(cls, parts: Sequence[NameScores]) -> NameScores:
        """Join names."""
        return cls(*(torch.cat([getattr(part, field) for part in parts]) for field in cls.__slots__))


class OutputHead(nn.Module):
    """Next-token logits; the shape of a masked-LM head, so that one can be loaded into it."""

    def __init__(self, config: ModelConfig, token_embeddings: nn.Embedding) -> None:
        super().__init__()
        hidden = config.encoder.hidden
        self.dense = Linear(hidden, hidden)
        self.norm = nn.LayerNorm(hidden, eps=config.encoder.layer_norm_eps)
        self.decoder = Linear(hidden, config.encoder.vocab_size)
        if config.tie_output:
            self.decoder.weight = token_embeddings.weight

    def features(self, hidden: Tensor) -> Tensor:
        """What is multiplied with the output matrix, (states, hidden)."""
        features: Tensor = self.norm(F.gelu(self.dense(hidden)))
        return features

    def logits(self, features: Tensor, token: Tensor) -> Tensor:
        """The logit of one token for each state, without the rest of the vocabulary."""
        return (features * self.decoder.weight[token]).sum(-1) + self.decoder.bias[token]


class Decoder(nn.Module):
    """An LSTM over names, and the classifier that corrects it."""

    def __init__(self, config: ModelConfig, token_embeddings: nn.Embedding) -> None:
        super().__init__()
        self.bos_id, self.eos_id = config.bos_id, config.eos_id
        hidden, dropout = config.encoder.hidden, config.dropout
        self.first_hidden = feed_forward(2 * hidden, hidden, hidden, dropout=dropout)
        self.first_cell = feed_forward(2 * hidden, hidden, hidden, dropout=dropout)
        self.mention_vector = feed_forward(2 * hidden, hidden, hidden, dropout=dropout)
        self.lstm: Lstm | Int8Lstm = Lstm(hidden)
        self.dropout = nn.Dropout(dropout)
        self.head = OutputHead(config, token_embeddings)
        self.classifier = feed_forward(2 * hidden, hidden, 1, dropout=dropout)

    def mentions(self, states: Tensor, mentions: Mentions) -> MentionStates:
        """Project [state of the first token ; state of the last] three times."""
        return self.project(states[mentions.row, mentions.first], states[mentions.row, mentions.last])

    def project(self, first: Tensor, last: Tensor) -> MentionStates:
        """The same of the states of first and of last tokens, (mentions, hidden) each."""
        both = torch.cat([first, last], -1)
        return MentionStates(self.first_hidden(both), self.first_cell(both), self.mention_vector(both))

    def token_gates(self, embeddings: Tensor) -> Tensor:
        """What each word embedding adds to the LSTM's gates; computed once, however many nodes read that word."""
        gates: Tensor = self.lstm.of_words(self.dropout(embeddings))
        return gates

    def mention_gates(self, mentions: MentionStates) -> Tensor:
        """What each mention vector adds to the LSTM's gates, the same at every step."""
        gates: Tensor = self.lstm.of_mentions(self.dropout(mentions.vector))
        return gates

    def step(self, inputs: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """One LSTM step from the sum of the input halves and the state before."""
        gate_in, forget, update, gate_out = self.lstm.of_hidden(hidden).add(inputs).chunk(4, dim=-1)
        cell = forget.sigmoid() * cell + gate_in.sigmoid() * update.tanh()
        return gate_out.sigmoid() * cell.tanh(), cell

    def read(self, tree: PrefixTree, mentions: MentionStates, token_embeddings: nn.Embedding) -> Reading:
        """Read every name of the tree, level by level: root m stands for `<s>` after mention m's first state."""
        parent, token = tree.parents(), tree.token.long()
        token[: tree.roots] = self.bos_id
        owner = torch.arange(tree.roots, device=parent.device)
        distinct, word = torch.unique(token, return_inverse=True)
        of_token, of_mention = self.token_gates(token_embeddings(distinct)), self.mention_gates(mentions)
        hidden, cell = self.step(of_token[word[: tree.roots]] + of_mention, mentions.hidden, mentions.cell)
        reading = [Reading(hidden, cell)]
        bounds = tree.level.tolist()
        for before, first, last in zip(bounds, bounds[1:], bounds[2:], strict=False):
            above = parent[first:last] - before
            owner = owner[above]
            inputs = of_token.index_select(0, word[first:last]) + of_mention.index_select(0, owner)
            hidden, cell = self.step(inputs, hidden.index_select(0, above), cell.index_select(0, above))
            reading.append(Reading(hidden, cell))
        return Reading(torch.cat([r.hidden for r in reading]), torch.cat([r.cell for r in reading]))

    def correct(self, mentions: MentionStates, owner: Tensor, cell: Tensor) -> Tensor:
        """The discriminative correction f of each name, (names,).

        Name i is of mention `owner[i]`, and `cell[i]` is the state after its last token.
        """
        logits: Tensor = self.classifier(torch.cat([mentions.vector[owner], cell], -1)).squeeze(-1)
        return logits


def log_likelihoods(decoder: Decoder, tree: PrefixTree, reading: Reading, *, normalized: bool) -> Tensor:
    """The mean log-likelihood of each name, its `</s>` included, (names,).

    `normalized`: the logits are log-probabilities already, so that no sum over the vocabulary is needed.
    """
    features = decoder.head.features(reading.hidden)
    log_z = features.new_zeros(len(features)) if normalized else log_normalizers(decoder.head, features)
    parent, bounds = tree.parents(), tree.level.tolist()
    above = parent[tree.roots :]
    step = decoder.head.logits(features[above], tree.token[tree.roots :].long()) - log_z[above]
    total = F.pad(step, (tree.roots, 0))
    depth = torch.zeros_like(parent)
    for first, last in pairwise(bounds[1:]):
        total[first:last] += total[parent[first:last]]
        depth[first:last] = depth[parent[first:last]] + 1
    ends = tree.ends()
    end = decoder.head.logits(features[ends], torch.full_like(ends, decoder.eos_id)) - log_z[ends]
    return (total[ends] + end) / (depth[ends] + 1)


def log_normalizers(head: OutputHead, features: Tensor, *, rows: int = 512) -> Tensor:
    """log Z of each state, (states,); `rows` at a time, because a row is as wide as the vocabulary."""
    return torch.cat([torch.logsumexp(head.decoder(part), -1) for part in torch.split(features, rows)])
