"""The network by onnxruntime and numpy, without torch: everything but the searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from parlink.checkpoint.onnx_folder import OnnxModel
from parlink.config import ModelConfig
from parlink.errors import ConfigError
from parlink.linking.interrupt import check
from parlink.linking.network import Described, Floats, Integers, JudgedSpans, Names, Reader, ScoredNames, TokenSpans
from parlink.nn.forest import Forest, chunks, grow
from parlink.text.attention_plan import plan_attention
from parlink.text.tokenizer import Tokenizer
from parlink.text.windows import Window

if TYPE_CHECKING:  # torch, which it needs, takes a second to import
    from parlink.kb.title_trees import TitleTree

DESCRIPTION_TOKENS = 32  # that are read, as `nn.descriptions.TOKENS`
_NAMES = 4096  # scored at once


class OnnxNetwork:
    """The graphs of a model."""

    device = "cpu"

    def __init__(self, model: OnnxModel, tokenizer: Tokenizer) -> None:
        self.model, self._tokenizer = model, tokenizer
        self.reader: Reader | None = self._read if model.descriptions is not None else None

    @property
    def config(self) -> ModelConfig:
        """What the model is made of."""
        return self.model.config

    def encode(self, windows: Sequence[Window], *, searched: Sequence[bool]) -> OnnxEncoding:
        """Read windows of text."""
        lengths, config = [len(window.ids) for window in windows], self.model.config
        front = config.global_tokens + 1 if config.global_tokens else 0
        plan = plan_attention(lengths, window=config.window, front=front)
        states, starts = self.model.encoder(
            words=self.model.words.rows(np.concatenate([window.ids for window in windows])),
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
        return OnnxEncoding(self.model, states, starts, is_owned, np.cumsum(length) - length, length)

    def _read(self, texts: Sequence[str | None]) -> Floats:
        """The vector of each description, (texts, hidden)."""
        assert self.model.descriptions is not None
        number: dict[str, int] = {"": 0}
        rows = [number.setdefault(text or "", len(number)) for text in texts]
        tokens = [ids[:DESCRIPTION_TOKENS] for ids in self._tokenizer.titles(list(number)[1:])]
        hidden = self.model.config.encoder.hidden
        means = [self.model.words.rows(ids).mean(0) if len(ids) else np.zeros(hidden, np.float32) for ids in tokens]
        (vectors,) = self.model.descriptions(means=np.array(means, np.float32).reshape(-1, hidden))
        return np.asarray(vectors[[row if row and len(tokens[row - 1]) else 0 for row in rows]])


@dataclass(frozen=True, slots=True)
class OnnxEncoding:
    """Windows end to end, and the states of their tokens."""

    model: OnnxModel
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
        config = self.model.config
        offset = self.offset[spans.row]
        first, last = offset + spans.first, offset + spans.last
        if not len(first):
            hidden = config.encoder.hidden
            return OnnxMentions(
                self.model, *(np.empty((0, width), np.float32) for width in (hidden,) * 3 + (4 * hidden,))
            )
        inputs = {"states": self.states, "first": first, "last": last}
        if config.descriptions or config.document_vector:
            inputs["document"] = self._documents()[spans.row]
        return OnnxMentions(self.model, *self.model.mentions(**inputs))

    def _documents(self) -> Floats:
        """The mean state of each window's text, special tokens left out, (windows, hidden)."""
        bounds = zip(self.offset + 1, self.offset + self.length - 1, strict=True)
        return np.array([self.states[first:last].sum(0) / max(last - first, 1) for first, last in bounds], np.float32)

    def _log_ends(self, row: Integers, first: Integers) -> Floats:
        """log p(end | start) of each length of mentions, (mentions, lengths); `first` counts through all windows."""
        most = self.model.config.max_mention_tokens
        if not len(first):
            return np.empty((0, most), np.float32)
        last = first[:, None] + np.arange(most)
        possible = (last < (self.offset + self.length - 1)[row][:, None]) & (last > self.offset[row][:, None])
        last = np.minimum(last, len(self.states) - 1)
        (logits,) = self.model.ends(states=self.states, first=first, last=last)
        logits = np.where(possible, logits, -np.inf)
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
    hidden: Floats  # (mentions, hidden)
    cell: Floats  # (mentions, hidden)
    vector: Floats  # (mentions, hidden)
    gates: Floats  # (mentions, 4 * hidden)
    context: Floats | None = None  # (mentions, hidden)

    def __len__(self) -> int:
        return len(self.vector)

    def __getitem__(self, index: list[int] | slice) -> OnnxMentions:
        context = None if self.context is None else self.context[index]
        parts = (self.hidden[index], self.cell[index], self.vector[index], self.gates[index], context)
        return OnnxMentions(self.model, *parts)

    def score(self, names: Names, *, described: Described | None = None) -> ScoredNames:
        """Score every name of every mention."""
        counts = np.fromiter(map(len, names), np.int64, len(names))
        number = np.arange(int(counts.sum()))
        lm, classifier = [np.empty(0, np.float32)], [np.empty(0, np.float32)]
        for first, last in chunks(counts.tolist(), limit=_NAMES):
            check()
            some, before = self[first:last], int(counts[:first].sum())
            owner = np.repeat(np.arange(last - first), counts[first:last])
            if not len(owner):
                continue
            flat = [name for choice in names[first:last] for name in choice]
            likelihood, cell = some._read(grow(flat, groups=owner, roots=len(some)))
            vectors = None if described is None else described(number[before : before + len(owner)].tolist())
            lm.append(likelihood)
            classifier.append(some._correct(owner, cell, vectors))
        mention = np.repeat(np.arange(len(names)), counts)
        return ScoredNames(mention, number, np.concatenate(lm), np.concatenate(classifier))

    def generate(self, names: Names, *, beams: int, described: Described | None = None) -> ScoredNames:
        """Refuse: this is torch's."""
        raise ConfigError("a beam search needs torch: load the model with runtime='torch', or link with search='rank'")

    def search(self, titles: TitleTree, *, beams: int, described: Described | None = None) -> ScoredNames:
        """Refuse: this is torch's."""
        raise ConfigError("a search over all titles needs torch: load the model with runtime='torch'")

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

    def _correct(self, owner: Integers, cell: Floats, described: Floats | None) -> Floats:
        """The discriminative correction of each name."""
        inputs = {"vector": self.vector, "owner": owner, "cell": cell}
        if self.context is not None:
            inputs["context"] = self.context
        if described is not None:
            inputs["described"] = described
        (logits,) = self.model.correction(**inputs)
        return np.asarray(logits)
