"""Which examples make up each training batch, and what the model should answer to them.

Everything is a function of the seed and the step, so that a run can be continued at any step.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import torch

from parlink.nn.batch import Batch, collate
from parlink.nn.detector import Mentions
from parlink.nn.losses import Targets
from parlink.nn.prefix_tree import PrefixTree
from parlink.text.tokenizer import Tokenizer
from parlink.training.describe import Describer
from parlink.training.examples import Example
from parlink.training.negatives import NegativeSampler
from parlink.training.stream import Cursor, ExampleStream

POOL = 32  # batches that are sorted by length together


class BatchStream:
    """Batches without end: datasets mixed by weight, windows of like length together; it begins at any step."""

    def __init__(
        self,
        streams: Sequence[ExampleStream],
        weights: Sequence[float],
        *,
        batch_size: int,
        seed: str,
        step: int = 0,
    ) -> None:
        self._streams, self._weights, self._batch_size, self._seed = streams, weights, batch_size, seed
        self._step = step
        self._cursors = {step // POOL: self._places()}  # where each pool begins, of the latest two

    def cursors(self, step: int) -> tuple[Cursor, ...]:
        """Where to begin to come to this step again: the step just given, or the one after it."""
        return self._cursors[step // POOL]

    def __iter__(self) -> Iterator[list[Example]]:
        while True:
            number = self._step // POOL
            batches = self._pool(number)
            self._cursors = {number: self._cursors[number], number + 1: self._places()}
            for batch in batches[self._step % POOL :]:
                self._step += 1
                yield batch

    def _pool(self, number: int) -> list[list[Example]]:
        rng, size = random.Random(f"draw {self._seed} {number}"), self._batch_size
        drawn = rng.choices(range(len(self._streams)), self._weights, k=POOL * size)
        pool = sorted((next(self._streams[i]) for i in drawn), key=lambda example: len(example.window.ids))
        batches = [pool[i : i + size] for i in range(0, len(pool), size)]
        rng.shuffle(batches)
        return batches

    def _places(self) -> tuple[Cursor, ...]:
        return tuple(stream.cursor for stream in self._streams)


def targets(
    examples: Sequence[Example],
    batch: Batch,
    *,
    tokenizer: Tokenizer,
    sampler: NegativeSampler,
    rng: random.Random,
    describer: Describer | None = None,
) -> Targets:
    """What the model should answer: starts, ends, and for each linked mention its name among negatives."""
    places = [(row, mention) for row, example in enumerate(examples) for mention in example.mentions]
    mentions = Mentions(
        torch.tensor([row for row, _ in places], dtype=torch.long),
        torch.tensor([m.first for _, m in places], dtype=torch.long),
        torch.tensor([m.last for _, m in places], dtype=torch.long),
    )
    starts = torch.zeros(batch.tokens.shape)
    starts[mentions.row, mentions.first] = 1.0
    unlinked = torch.tensor([e.unlinked for e in examples])[:, None].expand(starts.shape).clone()
    for row, example in enumerate(examples):
        unlinked[row, list(example.capitals)] = example.unlinked_names
    detection = torch.tensor([e.detection for e in examples])[:, None]
    weight = batch.owned * detection * torch.where(starts > 0, 1.0, unlinked)
    for row, example in enumerate(examples):
        weight[row, list(example.unknown)] = 0.0
    # A NIL mention without candidates has nothing to be told from: it trains detection only.
    linked = [i for i, (_, m) in enumerate(places) if m.title is not None or m.candidates]
    others = sorted({m.title for _, m in places if m.title is not None})
    names = [sampler.names(places[i][1], others, rng) for i in linked]
    owner = [row for row, choice in enumerate(names) for _ in choice]
    sequences = [tokenizer.title(t) if t is not None else (tokenizer.nil_id,) for choice in names for t in choice]
    first = torch.tensor([0, *(len(choice) for choice in names)], dtype=torch.long).cumsum(0)[:-1]
    return Targets(
        starts=starts,
        start_weight=weight,
        mentions=mentions,
        linked=torch.tensor(linked, dtype=torch.long),
        tree=PrefixTree.build(sequences, groups=owner, roots=len(linked)),
        owner=torch.tensor(owner, dtype=torch.long),
        gold=first,
        entities=None if describer is None else describer.entities(names, rng),
    )


def training_batch(
    examples: Sequence[Example],
    *,
    tokenizer: Tokenizer,
    sampler: NegativeSampler,
    rng: random.Random,
    describer: Describer | None = None,
) -> tuple[Batch, Targets]:
    """A batch of windows and its targets."""
    batch = collate([example.window for example in examples], pad_id=tokenizer.pad_id)
    return batch, targets(
        examples,
        batch,
        tokenizer=tokenizer,
        sampler=sampler,
        rng=rng,
        describer=describer,
    )
