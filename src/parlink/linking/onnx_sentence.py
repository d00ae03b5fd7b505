"""The vectors of stretches of text of `nn.sentence` by numpy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parlink.checkpoint.onnx_folder import OnnxSentence
from parlink.linking.network import Floats, Integers


@dataclass(frozen=True, slots=True)
class Stretches:
    """Encoded text, of which stretches are read."""

    sentence: OnnxSentence
    states: Floats  # (tokens, hidden)
    words: Floats  # (tokens, hidden) the word embedding of each token

    def read(self, first: Integers, last: Integers) -> Floats:
        """The vectors of tokens `first` to `last`, inclusive, (stretches, size)."""
        means = np.concatenate([_range_means(values, first, last) for values in (self.states, self.words)], 1)
        vectors = means @ self.sentence.weight.T + self.sentence.bias
        unit: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return unit


def _range_means(values: Floats, first: Integers, last: Integers) -> Floats:
    sums = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, 0, dtype=np.float64)])
    count = np.maximum(last + 1 - first, 1)
    means: Floats = ((sums[last + 1] - sums[first]) / count[:, None]).astype(np.float32)
    return means
