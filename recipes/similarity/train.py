"""Train a bi-encoder while everything else of a model stays as it is."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from parlink.nn.losses import classifier_loss
from parlink.nn.model import LinkingModel
from parlink.nn.similarity import Similarity
from recipes.similarity.examples import Example, Examples, Reader

BATCH = 256  # links
FIRST_PRIOR = 0.6  # weight of the prior that the similarity learns to add to; it is learned too, and left behind
OTHERS = 16  # entities of other mentions of the batch, that a mention is told from without a prior
OTHERS_WEIGHT = 0.5
COMMON = 55  # words, one of which is a word so common that it says nothing
LOG_STEPS = 100

logger = logging.getLogger(__name__)


def train(
    model: LinkingModel,
    examples: Sequence[Example],
    reader: Reader,
    *,
    steps: int,
    learning_rate: float = 1e-3,
    seed: int = 0,
) -> None:
    """Train the bi-encoder of a model on links."""
    similarity, words = model.similarity, model.encoder.token_embeddings.weight.detach()
    assert similarity is not None
    torch.manual_seed(seed)
    if not similarity.center.any():  # it is new
        similarity.center.copy_(words.mean(0))
        similarity.rarity.copy_(rarity(examples, len(words)))
    prior = nn.Parameter(torch.tensor(FIRST_PRIOR))
    rest = [weight for name, weight in similarity.named_parameters() if weight.requires_grad and name != "word_weight"]
    groups: list[dict[str, Any]] = [
        {"params": [*rest, prior]},
        {"params": [similarity.word_weight], "lr": 5 * learning_rate, "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=learning_rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, [learning_rate, 5 * learning_rate], total_steps=steps, pct_start=0.05
    )
    similarity.train()
    for step, batch in enumerate(_batches(examples, reader, steps=steps, seed=seed), start=1):
        loss = link_loss(similarity, batch, words, prior)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_([*rest, prior], 1.0)
        optimizer.step()
        schedule.step()
        if not step % LOG_STEPS:
            logger.info("step %d: loss %.4f, weight of the prior %.2f", step, loss.item(), prior.item())
    similarity.eval()


def rarity(examples: Sequence[Example], vocab_size: int) -> Tensor:
    """How rare each word is in the windows of links: how many times e rarer than one in `COMMON` words, at least 0."""
    windows = {id(example.window): example.window for example in examples}.values()
    counts = torch.ones(vocab_size)
    for window in windows:
        counts += torch.bincount(torch.from_numpy(window.ids), minlength=vocab_size)
    return (counts.sum() / counts / COMMON).log().clamp(min=0)


def link_loss(similarity: Similarity, batch: Examples, words: Tensor, prior: Tensor) -> Tensor:
    """Cross-entropy of the right candidate: with priors among its rivals, without among other entities too."""
    links = len(batch.right)
    queries = similarity.read_mentions(*batch.states)
    vectors = similarity.entities(batch.titles, batch.descriptions, words).vectors
    alike = (queries[batch.owner] * vectors[batch.entity]).sum(-1)
    rivals = classifier_loss(alike + prior * batch.log_prior, batch.owner, batch.right)
    drawn = torch.randint(len(vectors), (links, OTHERS))
    others = torch.einsum("ld,lod->lo", queries, vectors[drawn])
    others = others.masked_fill(drawn == batch.entity[batch.right][:, None], -torch.inf)
    owner = torch.cat([batch.owner, torch.arange(links).repeat_interleave(OTHERS)])
    anyone = classifier_loss(torch.cat([alike, others.flatten()]), owner, batch.right)
    return (rivals + OTHERS_WEIGHT * anyone) / links


def _batches(examples: Sequence[Example], reader: Reader, *, steps: int, seed: int) -> Iterator[Examples]:
    rng = random.Random(seed)
    for _ in range(steps):
        yield reader.read(rng.choices(examples, k=BATCH), rng)
