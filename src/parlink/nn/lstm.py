"""The LSTM cell that reads names, as the three products of which its gates are made; in float32 or in 8 bits."""

from __future__ import annotations

from torch import Tensor, nn

from parlink.nn.int8 import Int8Linear, TokenBits
from parlink.nn.linear import linear


class Lstm(nn.LSTMCell):
    """A cell whose input is a word and a mention, side by side, each as wide as its state."""

    def __init__(self, hidden: int) -> None:
        super().__init__(2 * hidden, hidden)

    def of_words(self, embeddings: Tensor) -> Tensor:
        """What words add to the gates, (words, 4 * hidden)."""
        return linear(embeddings, self.weight_ih[:, : self.hidden_size])

    def of_mentions(self, vectors: Tensor) -> Tensor:
        """What mentions add to the gates, and all that is added always: (mentions, 4 * hidden)."""
        return linear(vectors, self.weight_ih[:, self.hidden_size :], self.bias_ih + self.bias_hh)

    def of_hidden(self, hidden: Tensor) -> Tensor:
        """What the states before add to the gates, (states, 4 * hidden)."""
        return linear(hidden, self.weight_hh)


class Int8Lstm(nn.Module):
    """The same products in 8 bits."""

    def __init__(self, lstm: Lstm, *, token_bits: TokenBits) -> None:
        super().__init__()
        words, mentions = lstm.weight_ih[:, : lstm.hidden_size], lstm.weight_ih[:, lstm.hidden_size :]
        self.of_words = Int8Linear(words, None, token_bits=token_bits)
        self.of_mentions = Int8Linear(mentions, lstm.bias_ih + lstm.bias_hh, token_bits=token_bits)
        self.of_hidden = Int8Linear(lstm.weight_hh, None, token_bits=token_bits)
