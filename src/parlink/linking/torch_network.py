"""The network by torch, on whichever device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from parlink.kb.title_trees import TitleTree
from parlink.linking.beam import beam_search
from parlink.linking.names import generate_names, score_names
from parlink.linking.network import Describe, Floats, Integers, JudgedSpans, Names, ScoredNames, TokenSpans
from parlink.linking.sentences import SentenceReader
from parlink.linking.similarity import EntityReader
from parlink.model_config import ModelConfig
from parlink.nn.batch import Batch, collate
from parlink.nn.decoder import MentionStates, NameScores
from parlink.nn.detector import Detection, Mentions, detect, judge
from parlink.nn.model import LinkingModel
from parlink.text.tokenizer import Tokenizer
from parlink.text.windows import Window


class TorchNetwork:
    """A `LinkingModel` on a device."""

    def __init__(self, model: LinkingModel, tokenizer: Tokenizer, *, device: str) -> None:
        self.model, self.device, self._pad_id = model.to(device).eval(), device, tokenizer.pad_id
        sentences = SentenceReader(self._read_sentences, tokenizer) if model.sentence else None
        self._reader = EntityReader(model, tokenizer, sentences) if model.similarity else None

    @property
    def config(self) -> ModelConfig:
        """What the model is made of."""
        return self.model.config

    @property
    def precision(self) -> str:
        """What the model computes in."""
        return self.model.precision

    @torch.inference_mode()
    def encode(self, windows: Sequence[Window], *, searched: Sequence[bool]) -> TorchEncoding:
        """Read windows of text."""
        batch = collate(windows, pad_id=self._pad_id)
        batch = replace(batch, owned=batch.owned & torch.tensor(searched)[:, None]).to(self.device)
        return TorchEncoding(self.model, self._reader, batch, self.model.encode(batch))

    @torch.inference_mode()
    def _read_sentences(self, windows: Sequence[Window]) -> Floats:
        batch = collate(windows, pad_id=self._pad_id).to(self.device)
        return self.model.read_sentences(batch).cpu().numpy()


@dataclass(frozen=True, slots=True)
class TorchEncoding:
    """Windows side by side, and the states of their tokens."""

    model: LinkingModel
    reader: EntityReader | None
    batch: Batch
    states: Tensor  # (windows, length, hidden)

    @torch.inference_mode()
    def detect(self, *, threshold: float, least_end: float) -> JudgedSpans:
        """Find the starts above a threshold, each with its most probable end."""
        return _judged(detect(self.model.detector, self.states, self.batch, threshold=threshold, least_end=least_end))

    @torch.inference_mode()
    def judge(self, spans: TokenSpans) -> JudgedSpans:
        """Say how sure the detector is of spans."""
        return _judged(judge(self.model.detector, self.states, self.batch, self._place(spans)))

    @torch.inference_mode()
    def mentions(self, spans: TokenSpans) -> TorchMentions:
        """Tell what the decoder knows of the mentions at these spans."""
        return TorchMentions(self.model, self.reader, self.model.mentions(self.states, self._place(spans), self.batch))

    def _place(self, spans: TokenSpans) -> Mentions:
        return Mentions(*map(torch.from_numpy, (spans.row, spans.first, spans.last))).to(self.states.device)


@dataclass(frozen=True, slots=True)
class TorchMentions:
    """Mentions, and their states."""

    model: LinkingModel
    reader: EntityReader | None  # of a model with a bi-encoder
    states: MentionStates

    def __len__(self) -> int:
        return len(self.states.vector)

    def __getitem__(self, index: list[int]) -> TorchMentions:
        return replace(self, states=self.states[index])

    @torch.inference_mode()
    def score(self, names: Names) -> ScoredNames:
        """Score every name of every mention."""
        return _scored(score_names(self.model, self.states, names))

    @torch.inference_mode()
    def generate(self, names: Names, *, beams: int) -> ScoredNames:
        """Score the names that a beam search finds among those of each mention."""
        return _scored(generate_names(self.model, self.states, names, beams=beams))

    @torch.inference_mode()
    def search(self, titles: TitleTree, *, beams: int) -> ScoredNames:
        """Score the titles that a beam search finds for each mention."""
        roots = torch.zeros(len(self), dtype=torch.long, device=self.states.vector.device)
        return _scored(beam_search(self.model, self.states, titles.tree, roots, beams=beams))

    @torch.inference_mode()
    def compare(
        self, mention: Integers, titles: Sequence[str], describe: Describe, *, read: bool = False
    ) -> tuple[Floats, Floats]:
        """Similarity and overlap of mentions and titles."""
        assert self.reader is not None
        similarity, overlap = self.reader.compare(self.states, torch.from_numpy(mention), titles, describe, read=read)
        return similarity.numpy(), overlap.numpy()


def _judged(detection: Detection) -> JudgedSpans:
    at = detection.mentions
    judged = (detection.start_logit, detection.log_probability.exp())
    spans, sure = (torch.stack(columns).cpu().numpy() for columns in ((at.row, at.first, at.last), judged))
    return JudgedSpans(TokenSpans(*spans), *sure)


def _scored(scores: NameScores) -> ScoredNames:
    return ScoredNames(*(part.numpy() for part in (scores.mention, scores.name, scores.lm, scores.classifier)))
