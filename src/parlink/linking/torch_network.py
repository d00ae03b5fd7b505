"""The network by torch, on whichever device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from parlink.kb.title_trees import TitleTree
from parlink.linking.beam import beam_search
from parlink.linking.names import generate_names, score_names
from parlink.linking.network import Floats, Integers, JudgedSpans, Names, Say, ScoredNames, TokenSpans
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

    def forget(self) -> None:
        """Forget what was read of entities."""
        if self._reader is not None:
            self._reader.forget()

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
    def detect(self, *, threshold: float) -> JudgedSpans:
        """Find the starts above a threshold, each with its most probable end."""
        return _judged(detect(self.model.detector, self.states, self.batch, threshold=threshold))

    @torch.inference_mode()
    def judge(self, spans: TokenSpans) -> JudgedSpans:
        """Say how sure the detector is of spans."""
        return _judged(judge(self.model.detector, self.states, self.batch, self._place(spans)))

    def mentions(self, spans: TokenSpans) -> TorchMentions:
        """Tell what is known of the mentions at these spans; it is computed when it is asked for."""
        return TorchMentions(self, self._place(spans))

    def _place(self, spans: TokenSpans) -> Mentions:
        return Mentions(*map(torch.from_numpy, (spans.row, spans.first, spans.last))).to(self.states.device)


@dataclass(frozen=True, slots=True)
class TorchMentions:
    """Mentions of windows; what the decoder needs to know is computed of those alone whose names it reads."""

    text: TorchEncoding
    at: Mentions

    def __len__(self) -> int:
        return len(self.at.row)

    def __getitem__(self, index: list[int]) -> TorchMentions:
        return replace(self, at=self.at[torch.tensor(index, dtype=torch.long, device=self.at.row.device)])

    @torch.inference_mode()
    def score(self, names: Names) -> ScoredNames:
        """Score every name of every mention."""
        return _scored(score_names(self.text.model, self._project(), names))

    @torch.inference_mode()
    def generate(self, names: Names, *, beams: int) -> ScoredNames:
        """Score the names that a beam search finds among those of each mention."""
        return _scored(generate_names(self.text.model, self._project(), names, beams=beams))

    @torch.inference_mode()
    def search(self, titles: TitleTree, *, beams: int) -> ScoredNames:
        """Score the titles that a beam search finds for each mention."""
        roots = torch.zeros_like(self.at.row)
        return _scored(beam_search(self.text.model, self._project(), titles.tree, roots, beams=beams))

    @torch.inference_mode()
    def compare(
        self, mention: Integers, titles: Sequence[str], say: Say, *, read: bool = False
    ) -> tuple[Floats, Floats]:
        """Similarity and overlap of mentions and titles."""
        text = self.text
        assert text.reader is not None
        queries = text.model.ask(text.states, self.at, text.batch, around=read)
        similarity, overlap = text.reader.compare(queries, torch.from_numpy(mention), titles, say, read=read)
        return similarity.numpy(), overlap.numpy()

    def _project(self) -> MentionStates:
        return self.text.model.decoder.mentions(self.text.states, self.at)


def _judged(detection: Detection) -> JudgedSpans:
    at = detection.mentions
    judged = (detection.start_logit, detection.log_probability.exp())
    spans, sure = (torch.stack(columns).cpu().numpy() for columns in ((at.row, at.first, at.last), judged))
    return JudgedSpans(TokenSpans(*spans), *sure)


def _scored(scores: NameScores) -> ScoredNames:
    return ScoredNames(*(part.numpy() for part in (scores.mention, scores.name, scores.lm, scores.classifier)))
