"""What a model reads of the descriptions of entities, worked out once for each text."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import torch
from torch import Tensor

from parlink.nn.descriptions import TOKENS, Descriptions
from parlink.nn.model import LinkingModel
from parlink.text.tokenizer import Tokenizer

CHARACTERS = 8 * TOKENS  # of a text that are read: more than its first tokens need
MOST = 2**14  # texts that are remembered


class DescriptionVectors:
    """The vectors of the descriptions seen last, of a model that reads descriptions; several threads may ask."""

    def __init__(self, model: LinkingModel, tokenizer: Tokenizer) -> None:
        self._model, self._tokenizer, self._lock = model, tokenizer, threading.Lock()
        self._rows: dict[str, int] = {}  # by text
        self._vectors = self._no_vectors()

    def __call__(self, texts: Sequence[str | None]) -> Tensor:
        """The vector of each text, (texts, hidden); None and the empty text have that of no description."""
        shortened = [(text or "")[:CHARACTERS] for text in texts]
        with self._lock:
            new = [text for text in dict.fromkeys(shortened) if text not in self._rows]
            if new:
                self._add(new, shortened)
            rows = [self._rows[text] for text in shortened]
            return self._vectors[torch.tensor(rows, dtype=torch.long, device=self._vectors.device)]

    def _add(self, new: list[str], wanted: Sequence[str]) -> None:
        if len(self._rows) + len(new) > MOST:  # forget all but what is wanted now
            self._rows, self._vectors, new = {}, self._no_vectors(), list(dict.fromkeys(wanted))
        tokens = [tuple(ids[:TOKENS].tolist()) for ids in self._tokenizer.titles(new)]
        vectors = self._model.describe(Descriptions.build(tokens).to(self._vectors.device))
        assert vectors is not None
        self._rows |= {text: len(self._rows) + number for number, text in enumerate(new)}
        self._vectors = torch.cat([self._vectors, vectors])

    def _no_vectors(self) -> Tensor:
        return self._model.encoder.token_embeddings.weight.new_empty(0, self._model.config.encoder.hidden)
