"""The network as graphs that hold for every shape: what `parlink export --format onnx` traces.

The weights are those of a `LinkingModel`, and so are the formulas but for attention, which is told by its caller who
sees whom (`text.attention_plan`): a graph can choose nothing by the length of a text. Windows are laid end to end,
without padding. Word embeddings come from outside, so that their table, the largest of a small model, can stay on disk.
"""

from __future__ import annotations

from torch import Tensor, nn

from parlink.nn.decoder import MentionStates
from parlink.nn.encoder import as_bias
from parlink.nn.model import LinkingModel
from parlink.nn.similarity import Similarity


class EncoderGraph(nn.Module):
    """Words in, states and the log-odds of starts out."""

    def __init__(self, model: LinkingModel) -> None:
        super().__init__()
        self.encoder, self.detector = model.encoder, model.detector

    def forward(
        self,
        words: Tensor,  # (tokens, hidden) word embeddings
        place: Tensor,  # (tokens,) in the window
        queries: Tensor,  # (blocks, reads) tokens
        keys: Tensor,  # (blocks, seen) tokens
        visible: Tensor,  # (blocks, reads, seen) bool
        back: Tensor,  # (tokens,) where each token is among the queries, counted through all blocks
    ) -> tuple[Tensor, Tensor]:  # (tokens, hidden), (tokens,)
        """Encode windows of text, and say where mentions start."""
        states = self.encoder.add_places(words, place)
        bias = as_bias(visible[:, None], words.dtype)
        for layer in self.encoder.layers:
            states = layer(states, lambda qkv: _attend(qkv, queries, keys, bias).flatten(0, 1)[back])
        return states, self.detector.start_logits(states)


class EndGraph(nn.Module):
    """States and spans in, the logits of ends out."""

    def __init__(self, model: LinkingModel) -> None:
        super().__init__()
        self.detector = model.detector

    def forward(
        self,
        states: Tensor,  # (tokens, hidden)
        first: Tensor,  # (mentions,) tokens
        last: Tensor,  # (mentions, ends) tokens
    ) -> Tensor:  # (mentions, ends)
        """Score each end of a mention."""
        return self.detector.score_ends(states, first, last)


class MentionGraph(nn.Module):
    """States and spans in, what the decoder knows of each mention out."""

    def __init__(self, model: LinkingModel) -> None:
        super().__init__()
        self.decoder = model.decoder

    def forward(
        self,
        states: Tensor,  # (tokens, hidden)
        first: Tensor,  # (mentions,) tokens
        last: Tensor,  # (mentions,) tokens
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """First hidden and cell state, mention vector, and what that adds to the gates."""
        known = self.decoder.project(states[first], states[last])
        return known.hidden, known.cell, known.vector, self.decoder.mention_gates(known)


class StepGraph(nn.Module):
    """One step of the decoder, for any number of names."""

    def __init__(self, model: LinkingModel) -> None:
        super().__init__()
        self.decoder = model.decoder

    def forward(
        self,
        words: Tensor,  # (distinct, hidden) embeddings of the tokens that are read
        word: Tensor,  # (nodes,) which of them each node reads
        above: Tensor,  # (nodes,) the node before it
        owner: Tensor,  # (nodes,) its mention
        hidden: Tensor,  # (nodes before, hidden)
        cell: Tensor,  # (nodes before, hidden)
        gates: Tensor,  # (mentions, 4 * hidden)
    ) -> tuple[Tensor, Tensor, Tensor]:  # (nodes, hidden) each
        """Read one token more; returns the state and what is multiplied with the output matrix."""
        inputs = self.decoder.token_gates(words)[word] + gates[owner]
        hidden, cell = self.decoder.step(inputs, hidden[above], cell[above])
        return hidden, cell, self.decoder.head.features(hidden)


class CorrectionGraph(nn.Module):
    """The classifier: mentions and what was read of names in, logits out."""

    def __init__(self, model: LinkingModel) -> None:
        super().__init__()
        self.decoder = model.decoder

    def forward(
        self,
        vector: Tensor,  # (mentions, hidden)
        owner: Tensor,  # (names,)
        cell: Tensor,  # (names, hidden) after the last token
    ) -> Tensor:  # (names,)
        """Score each name."""
        return self.decoder.correct(MentionStates(vector, vector, vector), owner, cell)


class QueryGraph(nn.Module):
    """The bi-encoder's side of mentions."""

    def __init__(self, similarity: Similarity) -> None:
        super().__init__()
        self.similarity = similarity

    def forward(self, first: Tensor, last: Tensor, document: Tensor) -> Tensor:
        """Read three states of each mention, (mentions, hidden) each -> (mentions, size)."""
        return self.similarity.read_mentions(first, last, document)


class EntityGraph(nn.Module):
    """The bi-encoder's side of entities."""

    def __init__(self, similarity: Similarity) -> None:
        super().__init__()
        self.similarity = similarity

    def forward(self, title: Tensor, description: Tensor) -> Tensor:
        """Read the mean words of titles and descriptions, (entities, hidden) each -> (entities, size)."""
        return self.similarity.read_entities(title, description)


def _attend(qkv: Tensor, queries: Tensor, keys: Tensor, bias: Tensor) -> Tensor:
    """Scaled dot-product attention of blocks of tokens, (tokens, 3, heads, size) -> (blocks, reads, hidden)."""
    query, key, value = qkv.unbind(1)
    scores = query[queries].transpose(1, 2) * query.shape[-1] ** -0.5 @ key[keys].permute(0, 2, 3, 1)
    mixed: Tensor = (scores + bias).softmax(-1) @ value[keys].transpose(1, 2)  # (blocks, heads, reads, size)
    return mixed.transpose(1, 2).flatten(2)
