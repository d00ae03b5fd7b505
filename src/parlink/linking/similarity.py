"""How alike mentions and the entities of titles are, by a model's bi-encoder; entities are read once for each."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from parlink.linking.network import Integers, Say, entity_texts
from parlink.linking.sentences import SentenceReader
from parlink.nn.model import LinkingModel
from parlink.nn.similarity import TOKENS, Entities, Queries, Words
from parlink.text.tokenizer import Tokenizer

MOST = 2**14  # entities that are remembered


class EntityReader:
    """Reads titles and descriptions for a bi-encoder, and remembers those read last; several threads may ask."""

    def __init__(self, model: LinkingModel, tokenizer: Tokenizer, sentences: SentenceReader | None = None) -> None:
        self._model, self._tokenizer, self._lock = model, tokenizer, threading.Lock()
        self._sentences = sentences  # of a model that has learned to compare them
        self._rows: dict[tuple[str, str], int] = {}  # by title and description
        self._tokens: list[Integers] = []  # of the descriptions
        self._vectors = self._new_vectors(0)  # a row for each, and some to spare

    def compare(
        self, queries: Queries, mention: Tensor, titles: Sequence[str], say: Say, *, read: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Similarity and overlap of each mention and the title beside it, (titles,); `say` knows more of them.

        With `read`, what it knows is read by the encoder too.
        """
        number = {title: place for place, title in enumerate(dict.fromkeys(titles))}
        entities, device = self.read(list(number), say), self._vectors.device
        if read and self._sentences is not None:
            said = self._sentences.read([entity_texts(title, say) for title in number])
            entities = replace(entities, said=torch.from_numpy(said).to(device))
        entity = torch.tensor([number[title] for title in titles], dtype=torch.long, device=device)
        similarity, overlap = self._model.compare(queries, mention.to(device), entities, entity)
        return similarity.cpu(), overlap.cpu()

    def read(self, titles: Sequence[str], say: Say) -> Entities:
        """What is compared of each title."""
        texts = [entity_texts(title, say) for title in titles]
        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in self._rows]
            if new:
                self._add(new, list(dict.fromkeys(texts)))
            rows = [self._rows[text] for text in texts]
            vectors = self._vectors[torch.tensor(rows, dtype=torch.long, device=self._vectors.device)]
            return Entities(vectors, Words.build([self._tokens[row] for row in rows]).to(self._vectors.device))

    def forget(self) -> None:
        """Forget all entities."""
        with self._lock:
            self._rows, self._tokens = {}, []
        if self._sentences is not None:
            self._sentences.forget()

    def _add(self, new: list[tuple[str, str]], wanted: list[tuple[str, str]]) -> None:
        if len(self._rows) + len(new) > MOST:  # forget all but what is wanted now
            self._rows, self._tokens, new = {}, [], wanted
        first, last = len(self._rows), len(self._rows) + len(new)
        titles, descriptions = (self._tokenize([text[part] for text in new]) for part in (0, 1))
        entities = self._model.entities(
            *(Words.build(part).to(self._vectors.device) for part in (titles, descriptions))
        )
        if last > len(self._vectors):  # twice as many, so that rows are copied seldom
            more = self._new_vectors(2 * last)
            more[:first] = self._vectors[:first]
            self._vectors = more
        self._vectors[first:last] = entities.vectors
        self._rows |= {text: first + number for number, text in enumerate(new)}
        self._tokens += descriptions

    def _tokenize(self, texts: list[str]) -> list[Integers]:
        distinct = list(dict.fromkeys(texts))  # many entities have the same description
        tokens = dict(zip(distinct, (ids[:TOKENS] for ids in self._tokenizer.titles(distinct)), strict=True))
        return [tokens[text] for text in texts]

    def _new_vectors(self, rows: int) -> Tensor:
        return self._model.encoder.token_embeddings.weight.new_empty(rows, self._model.config.similarity)
