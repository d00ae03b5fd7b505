"""The bi-encoder of `nn.similarity` by onnxruntime and numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parlink.checkpoint.onnx_folder import OnnxSimilarity
from parlink.checkpoint.word_table import WordTable
from parlink.linking.network import Floats, Integers, Say, entity_texts
from parlink.linking.sentences import SentenceReader
from parlink.model_config import DESCRIPTION_TOKENS, FEW_WORDS, UNLIKE_WORDS
from parlink.text.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class OnnxQueries:
    """Mentions as they are compared with entities."""

    vectors: Floats  # (mentions, size)
    window: Integers  # (mentions,) which window each is in
    words: Sequence[Integers]  # the tokens of each window
    around: Floats | None = None  # (mentions, sentence size) of the text around each

    def __getitem__(self, index: list[int] | slice) -> OnnxQueries:
        around = None if self.around is None else self.around[index]
        return OnnxQueries(self.vectors[index], self.window[index], self.words, around)


class OnnxEntityReader:
    """Reads titles and descriptions, and compares mentions with them."""

    def __init__(
        self,
        words: WordTable,
        similarity: OnnxSimilarity,
        tokenizer: Tokenizer,
        sentences: SentenceReader | None = None,
    ) -> None:
        self._words, self._similarity, self._tokenizer = words, similarity, tokenizer
        self._sentences = sentences  # of a model that has learned to compare them

    def forget(self) -> None:
        """Forget what was read of entities."""
        if self._sentences is not None:
            self._sentences.forget()

    def ask(self, states: Floats, first: Integers, last: Integers, document: Floats) -> Floats:
        """The vectors of mentions, (mentions, size); `document` is the mean state of the window of each."""
        (vectors,) = self._similarity.queries(first=states[first], last=states[last], document=document)
        return np.asarray(vectors)

    def compare(
        self,
        queries: OnnxQueries,
        mention: Integers,
        titles: Sequence[str],
        say: Say,
        *,
        read: bool = False,
    ) -> tuple[Floats, Floats]:
        """Similarity and overlap of each mention and the title beside it, (titles,)."""
        number = {title: place for place, title in enumerate(dict.fromkeys(titles))}
        texts = [entity_texts(title, say) for title in number]
        names, said = (self._tokenize([text[part] for text in texts]) for part in (0, 1))
        (vectors,) = self._similarity.entities(title=self._average(names), description=self._average(said))
        entity = np.array([number[title] for title in titles], np.int64)
        product = np.einsum("ns,ns->n", queries.vectors[mention], vectors[entity])
        if read and self._sentences is not None and queries.around is not None:
            product = product + np.einsum("ns,ns->n", queries.around[mention], self._sentences.read(texts)[entity])
        spoken = np.zeros(len(entity), np.float32)
        for row in np.unique(queries.window[mention]):  # each window has words of its own to compare with
            pairs = np.flatnonzero(queries.window[mention] == row)
            distinct, place = np.unique(entity[pairs], return_inverse=True)
            spoken[pairs] = self._overlap([said[each] for each in distinct], queries.words[row])[place]
        return product, spoken

    def _tokenize(self, texts: list[str]) -> list[Integers]:
        return [ids[:DESCRIPTION_TOKENS] for ids in self._tokenizer.titles(texts)]

    def _average(self, texts: Sequence[Integers]) -> Floats:
        """The weighted mean of the words of each text, (texts, hidden), 0 for an empty one."""
        means = np.zeros((len(texts), len(self._similarity.center)), np.float32)
        for row, tokens in enumerate(texts):
            weight = self._similarity.word_weight[tokens]
            if len(tokens):
                means[row] = weight @ self._words.rows(tokens) / weight.sum()
        return means

    def _overlap(self, texts: Sequence[Integers], context: Integers) -> Floats:
        """How much of each text a context speaks of, (texts,), from 0 to 1."""
        tokens = np.concatenate([*texts, np.empty(0, np.int64)])
        text = np.repeat(np.arange(len(texts)), [len(each) for each in texts])
        rarity = self._similarity.rarity[tokens]
        near = np.bincount(text, rarity * self._nearness(tokens, context), len(texts))
        return (near / (np.bincount(text, rarity, len(texts)) + FEW_WORDS)).astype(np.float32)

    def _nearness(self, tokens: Integers, context: Integers) -> Floats:
        """How near the nearest word of a context is to each token, (tokens,), from 0 to 1."""
        if not len(tokens) or not len(context):
            return np.zeros(len(tokens), np.float32)
        distinct, place = np.unique(tokens, return_inverse=True)
        cosine = (self._directions(distinct) @ self._directions(np.unique(context)).T).max(1)
        near: Floats = (np.maximum(cosine - UNLIKE_WORDS, 0) / (1 - UNLIKE_WORDS))[place]
        return near

    def _directions(self, tokens: Integers) -> Floats:
        vectors = self._words.rows(tokens) - self._similarity.center
        directions: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return directions
