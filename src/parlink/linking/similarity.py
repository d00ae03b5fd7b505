"""The vectors of entities, of a model with a bi-encoder, worked out once for each."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import torch
from torch import Tensor

from parlink.linking.network import Describe, entity_texts
from parlink.nn.model import LinkingModel
from parlink.nn.similarity import TOKENS, Words
from parlink.text.tokenizer import Tokenizer

MOST = 2**14  # entities that are remembered


class EntityVectors:
    """The vectors of the entities seen last; several threads may ask."""

    def __init__(self, model: LinkingModel, tokenizer: Tokenizer) -> None:
        self._model, self._tokenizer, self._lock = model, tokenizer, threading.Lock()
        self._rows: dict[tuple[str, str], int] = {}  # by title and description
        self._vectors = self._no_vectors()

    def __call__(self, titles: Sequence[str], describe: Describe) -> Tensor:
        """The vector of each title, (titles, size), with what `describe` knows of it."""
        known = {title: entity_texts(title, describe) for title in set(titles)}
        texts = [known[title] for title in titles]
        with self._lock:
            new = [text for text in known.values() if text not in self._rows]
            if new:
                self._add(new, list(known.values()))
            rows = [self._rows[text] for text in texts]
            return self._vectors[torch.tensor(rows, dtype=torch.long, device=self._vectors.device)]

    def _add(self, new: list[tuple[str, str]], wanted: list[tuple[str, str]]) -> None:
        if len(self._rows) + len(new) > MOST:  # forget all but what is wanted now
            self._rows, self._vectors, new = {}, self._no_vectors(), wanted
        titles, descriptions = (self._words([text[part] for text in new]) for part in (0, 1))
        vectors = self._model.entities(titles, descriptions)
        self._rows |= {text: len(self._rows) + number for number, text in enumerate(new)}
        self._vectors = torch.cat([self._vectors, vectors])

    def _words(self, texts: list[str]) -> Words:
        tokens = [ids[:TOKENS].tolist() for ids in self._tokenizer.titles(texts)]
        return Words.build(tokens).to(self._vectors.device)

    def _no_vectors(self) -> Tensor:
        return self._model.encoder.token_embeddings.weight.new_empty(0, self._model.config.similarity)
