"""The network by onnxruntime and numpy, without torch: everything but the searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from parlink.checkpoint.onnx_folder import OnnxModel
from parlink.errors import ConfigError
from parlink.linking.interrupt import check
from parlink.linking.network import (
    Floats,
    Integers,
    JudgedSpans,
    Names,
    Say,
    ScoredNames,
    TokenSpans,
)
from parlink.linking.onnx_sentence import Stretches
from parlink.linking.onnx_similarity import OnnxEntityReader, OnnxQueries
from parlink.linking.sentences import SentenceReader
from parlink.model_config import SENTENCE_REACH, ModelConfig
from parlink.nn.forest import Forest, chunks, grow
from parlink.text.attention_plan import plan_attention
from parlink.text.tokenizer import Tokenizer
from parlink.text.windows import Window

if TYPE_CHECKING:  # torch, which it needs, takes a second to import
    from parlink.kb.title_trees import TitleTree

_NAMES = 4096  # scored at once


class OnnxNetwork:
    """The graphs of a model."""

    device = "cpu"
    precision = "float32"

    def __init__(self, model: OnnxModel, tokenizer: Tokenizer) -> None:
        self.model = model
        similarity = model.similarity
        sentences = None if model.sentence is None else SentenceReader(self._read_sentences, tokenizer)
        self._reader = None if similarity is None else OnnxEntityReader(model.words, similarity, tokenizer, sentences)

    @property
    def config(self) -> ModelConfig:
        """What the model is made of."""
        return self.model.config

    def encode(self, windows: Sequence[Window], *, searched: Sequence[bool]) -> OnnxEncoding:
        """Read windows of text."""
        lengths, config = [len(window.ids) for window in windows], self.model.config
        front = config.global_tokens + 1 if config.global_tokens else 0
        plan = plan_attention(lengths, window=config.window, front=front)
        tokens = np.concatenate([window.ids for window in windows])
        words = self.model.words.rows(tokens)
        if self.model.cases is not None:
            words = words + self.model.cases[np.concatenate([_cases(window) for window in windows])]
        states, starts = self.model.encoder(
            words=words,
            place=plan.place,
            queries=plan.queries,
            keys=plan.keys,
            visible=plan.visible,
            back=plan.back,
        )
        # In a window, ids[0] is a special token and ids[1] is the document's token `offset`.
        owned = [(window.own_first - window.offset + 1, window.own_last - window.offset + 1) for window in windows]
        first, last = (np.repeat(column, lengths) for column in np.array(owned).T)
        is_owned = (plan.place >= first) & (plan.place < last) & np.repeat(np.array(searched), lengths)
        length = np.array(lengths)
        return OnnxEncoding(
            self.model, self._reader, tokens, states, starts, is_owned, np.cumsum(length) - length, length
        )

    def forget(self) -> None:
        """Forget what was read of entities."""
        if self._reader is not None:
            self._reader.forget()

    def _read_sentences(self, windows: Sequence[Window]) -> Floats:
        encoding = self.encode(windows, searched=[False] * len(windows))
        return encoding.stretches().read(encoding.offset + 1, encoding.offset + encoding.length - 2)


def _cases(window: Window) -> Integers:
    """How the words of a window are capitalized; of what is not told, not at all."""
    return np.zeros_like(window.ids) if window.case is None else window.case


@dataclass(frozen=True, slots=True)
class OnnxEncoding:
    """Windows end to end, and the states of their tokens."""

    model: OnnxModel
    reader: OnnxEntityReader | None  # of a model with a bi-encoder
    tokens: Integers  # (tokens,)
    states: Floats  # (tokens, hidden)
    starts: Floats  # (tokens,) log-odds that a mention starts
    owned: NDArray[np.bool_]  # (tokens,) True where a mention may start
    offset: Integers  # (windows,) the first token of each
    length: Integers  # (windows,)

    def detect(self, *, threshold: float) -> JudgedSpans:
        """Find the starts above a threshold, each with its most probable end."""
        first = np.flatnonzero(self.owned & (self.starts > threshold))
        row = np.searchsorted(self.offset, first, side="right") - 1
        log_ends = self._log_ends(row, first)
        length = log_ends.argmax(1) if len(first) else first
        first_in_row = first - self.offset[row]
        return self._judged(TokenSpans(row, first_in_row, first_in_row + length), log_ends)

    def judge(self, spans: TokenSpans) -> JudgedSpans:
        """Say how sure the detector is of spans."""
        return self._judged(spans, self._log_ends(spans.row, self.offset[spans.row] + spans.first))

    def mentions(self, spans: TokenSpans) -> OnnxMentions:
        """Tell what the decoder knows of the mentions at these spans."""
        if not len(spans.row):
            size = self.model.config.encoder.hidden
            none, no_gates = np.empty((0, size), np.float32), np.empty((0, 4 * size), np.float32)
            return OnnxMentions(self.model, self.reader, none, none, none, no_gates)
        offset = self.offset[spans.row]
        first, last = offset + spans.first, offset + spans.last
        hidden, cell, vector, gates = self.model.mentions(states=self.states, first=first, last=last)
        queries = None if self.reader is None else self._ask(self.reader, spans.row, first, last)
        return OnnxMentions(self.model, self.reader, hidden, cell, vector, gates, queries)

    def _ask(self, reader: OnnxEntityReader, row: Integers, first: Integers, last: Integers) -> OnnxQueries:
        """What a bi-encoder compares of mentions: special tokens are no part of the text of a window."""
        bounds = [slice(a + 1, a + n - 1) for a, n in zip(self.offset.tolist(), self.length.tolist(), strict=True)]
        means = [self.states[text].sum(0) / max(text.stop - text.start, 1) for text in bounds]
        vectors = reader.ask(self.states, first, last, np.array(means, np.float32)[row])
        return OnnxQueries(vectors, row, [self.tokens[text] for text in bounds], self._around(row, first, last))

    def _around(self, row: Integers, first: Integers, last: Integers) -> Floats | None:
        """The vectors of the text around mentions, of a model that compares sentences."""
        if self.model.sentence is None:
            return None
        begin = np.maximum(first - SENTENCE_REACH, self.offset[row] + 1)
        end = np.minimum(last + SENTENCE_REACH, (self.offset + self.length)[row] - 2)
        return self.model.sentence.strength * self.stretches().read(begin, end)

    def stretches(self) -> Stretches:
        """What stretches of this text are read from."""
        assert self.model.sentence is not None
        return Stretches(self.model.sentence, self.states, self.model.words.rows(self.tokens))

    def _log_ends(self, row: Integers, first: Integers) -> Floats:
        """log p(end | start) of each length of mentions, (mentions, lengths); `first` counts through all windows."""
        most = self.model.config.max_mention_tokens
        if not len(first):
            return np.empty((0, most), np.float32)
        last = first[:, None] + np.arange(most)
        possible = (last < (self.offset + self.length - 1)[row][:, None]) & (last > self.offset[row][:, None])
        last = np.minimum(last, len(self.states) - 1)
        tokens, place = np.unique(last, return_inverse=True)  # the first end is the start itself
        place = place.reshape(last.shape)  # numpy 2.0 leaves it flat
        (logits,) = self.model.ends(states=self.states[tokens], first=place[:, 0], last=place)
        logits = np.where(possible, logits, -np.inf)
        with np.errstate(invalid="ignore"):  # where no end is possible there is no probability, as with torch
            shifted = logits - logits.max(1, keepdims=True)
            log_ends: Floats = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
        return log_ends

    def _judged(self, spans: TokenSpans, log_ends: Floats) -> JudgedSpans:
        start = self.starts[self.offset[spans.row] + spans.first]
        length = spans.last - spans.first
        most = self.model.config.max_mention_tokens
        log_end = log_ends[np.arange(len(length)), np.minimum(length, most - 1)]
        log_probability = np.where(length < most, log_end, -np.inf) - np.logaddexp(0, -start)
        return JudgedSpans(spans, start, np.exp(log_probability).astype(np.float32))


@dataclass(frozen=True, slots=True)
class OnnxMentions:
    """Mentions, and what the decoder knows of each."""

    model: OnnxModel
    reader: OnnxEntityReader | None
    hidden: Floats  # (mentions, hidden)
    cell: Floats  # (mentions, hidden)
    vector: Floats  # (mentions, hidden)
    gates: Floats  # (mentions, 4 * hidden)
    queries: OnnxQueries | None = None  # of a model with a bi-encoder

    def __len__(self) -> int:
        return len(self.vector)

    def __getitem__(self, index: list[int] | slice) -> OnnxMentions:
        queries = None if self.queries is None else self.queries[index]
        parts = (self.hidden[index], self.cell[index], self.vector[index], self.gates[index])
        return OnnxMentions(self.model, self.reader, *parts, queries)

    def score(self, names: Names) -> ScoredNames:
        """Score every name of every mention."""
        counts = np.fromiter(map(len, names), np.int64, len(names))
        lm, classifier = [np.empty(0, np.float32)], [np.empty(0, np.float32)]
        for first, last in chunks(counts.tolist(), limit=_NAMES):
            check()
            some = self[first:last]
            owner = np.repeat(np.arange(last - first), counts[first:last])
            if not len(owner):
                continue
            flat = [name for choice in names[first:last] for name in choice]
            likelihood, cell = some._read(grow(flat, groups=owner, roots=len(some)))
            (logits,) = self.model.correction(vector=some.vector, owner=owner, cell=cell)
            lm.append(likelihood)
            classifier.append(logits)
        mention = np.repeat(np.arange(len(names)), counts)
        return ScoredNames(mention, np.arange(len(mention)), np.concatenate(lm), np.concatenate(classifier))

    def generate(self, names: Names, *, beams: int) -> ScoredNames:
        """Refuse: this is torch's."""
        raise ConfigError("a beam search needs torch: load the model with runtime='torch', or link with search='rank'")

    def search(self, titles: TitleTree, *, beams: int) -> ScoredNames:
        """Refuse: this is torch's."""
        raise ConfigError("a search over all titles needs torch: load the model with runtime='torch'")

    def compare(
        self, mention: Integers, titles: Sequence[str], say: Say, *, read: bool = False
    ) -> tuple[Floats, Floats]:
        """Similarity and overlap of mentions and titles."""
        assert self.reader is not None and self.queries is not None
        return self.reader.compare(self.queries, mention, titles, say, read=read)

    def _read(self, forest: Forest) -> tuple[Floats, Floats]:
        """Read names level by level: the mean log-likelihood of each, and the cell state after its last token."""
        model, config = self.model, self.model.config
        token, parent, bounds = forest.token.copy(), forest.parents(), forest.level
        token[: forest.roots] = config.bos_id
        above = owner = np.arange(forest.roots)
        hidden, cell = self.hidden, self.cell
        of_end = model.output.rows(np.array([config.eos_id]))[0]
        total = features = log_z = np.empty(0, np.float32)
        likelihoods, cells = [], []
        for depth, (first, last) in enumerate(pairwise(bounds)):
            tokens = token[first:last]
            if depth:
                above = parent[first:last] - bounds[depth - 1]
                owner = owner[above]
                logits = np.einsum("nh,nh->n", features[above], model.output.rows(tokens)) + model.output_bias[tokens]
                total = total[above] + logits - log_z[above]
            else:
                total = np.zeros(last - first, np.float32)
            distinct, word = np.unique(tokens, return_inverse=True)
            hidden, cell, features = model.step(
                words=model.words.rows(distinct),
                word=word,
                above=above,
                owner=owner,
                hidden=hidden,
                cell=cell,
                gates=self.gates,
            )
            log_z = (
                np.zeros(last - first, np.float32)
                if config.self_normalized
                else model.output.log_normalizers(features, model.output_bias)
            )
            end = features @ of_end + model.output_bias[config.eos_id] - log_z
            likelihoods.append((total + end) / np.float32(depth + 1))
            cells.append(cell)
        return np.concatenate(likelihoods)[forest.ends], np.concatenate(cells)[forest.ends]
