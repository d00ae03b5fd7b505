"""Learn the vectors of a sentence encoder from the states of another: a ridge regression, solved at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from parlink.checkpoint.pretrained.weights import load_pretrained
from parlink.nn.batch import Batch, collate
from parlink.nn.encoder import Encoder
from parlink.nn.model import LinkingModel
from parlink.nn.sentence import SentenceHead, range_means
from parlink.text.tokenizer import Tokenizer
from parlink.text.windows import Window, by_length
from recipes.sentence.texts import Stretch

BATCH_TOKENS = 2048
TEACHER_TOKENS = 96
RIDGE = 300.0


class Teacher:
    """A sentence encoder: the mean of its states, as the MiniLM family is trained."""

    def __init__(self, name_or_folder: str) -> None:
        pretrained = load_pretrained(name_or_folder)
        self.tokenizer = Tokenizer.load(pretrained.tokenizer)
        self.encoder = Encoder(pretrained.config, window=0, dropout=0.0).eval()
        self.encoder.load_state_dict(pretrained.weights)

    @torch.inference_mode()
    def read(self, texts: Sequence[str]) -> Tensor:
        """The vectors of texts, (texts, hidden), of length 1."""
        bos, eos = self.tokenizer.bos_id, self.tokenizer.eos_id
        ids = [self.tokenizer.encode(text).ids[:TEACHER_TOKENS] for text in texts]
        windows = [Window(np.concatenate(([bos], each, [eos])), 0, 0, len(each)) for each in ids]
        vectors = torch.empty(len(texts), self.encoder.config.hidden)
        for group, batch in _batches(windows, self.tokenizer.pad_id):
            states = self.encoder(batch.tokens, batch.mask)
            vectors[group] = F.normalize((states * batch.mask[..., None]).sum(1) / batch.mask.sum(1, keepdim=True))
        return vectors


@torch.inference_mode()
def read_means(model: LinkingModel, stretches: Sequence[Stretch], *, pad_id: int) -> Tensor:
    """Mean states and mean word embeddings of stretches, (stretches, 2 * hidden)."""
    places: dict[int, list[int]] = {}
    for number, stretch in enumerate(stretches):
        places.setdefault(id(stretch.ids), []).append(number)  # a window is read once
    numbers = list(places.values())
    windows = [Window(stretches[some[0]].ids, 0, 0, 0) for some in numbers]
    means = torch.empty(len(stretches), 2 * model.config.encoder.hidden)
    for group, batch in _batches(windows, pad_id):
        states, words = model.encode(batch), model.encoder.token_embeddings(batch.tokens)
        here = [(row, number) for row, window in enumerate(group) for number in numbers[window]]
        row = torch.tensor([row for row, _ in here])
        first, last = (torch.tensor([getattr(stretches[n], name) for _, n in here]) for name in ("first", "last"))
        means[[number for _, number in here]] = torch.cat(
            [range_means(values, row, first, last) for values in (states, words)], 1
        )
    return means


@torch.no_grad()
def fit(head: SentenceHead, means: Tensor, vectors: Tensor) -> float:
    """Let a head make the vectors of a teacher out of means; the mean cosine of what it makes and what it should."""
    x, y = means.double(), vectors.double()
    mean, spread, usual = x.mean(0), x.std(0).clamp(min=1e-6), y.mean(0)
    z = (x - mean) / spread
    solved = torch.linalg.solve(z.T @ z + RIDGE * torch.eye(z.shape[1], dtype=z.dtype), z.T @ (y - usual))
    head.project.weight.copy_((solved / spread[:, None]).T)
    head.project.bias.copy_(usual - (mean / spread) @ solved)
    made = head(*means.to(head.project.weight.dtype).chunk(2, 1))
    return float((made * vectors).sum(1).mean())


def _batches(windows: Sequence[Window], pad_id: int) -> Iterator[tuple[list[int], Batch]]:
    for group in by_length([len(window.ids) for window in windows], batch_tokens=BATCH_TOKENS):
        yield group, collate([windows[number] for number in group], pad_id=pad_id)
