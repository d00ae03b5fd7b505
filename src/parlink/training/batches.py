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
from parlink.training.examples import Example, GoldMention

POOL = 32  # batches that are sorted by length together

Variants = Sequence[tuple[list[Example], ...]]


def example_batches(
    datasets: Sequence[Variants], weights: Sequence[float], *, batch_size: int, natural: float, seed: str
) -> Iterator[list[Example]]:
    """Batches without end: datasets mixed by weight, each shuffled anew whenever it is used up."""
    draws = random.Random(f"draw {seed}")
    streams = [_shuffled(data, natural, random.Random(f"{seed} {i}")) for i, data in enumerate(datasets)]
    while True:
        pool = [next(streams[i]) for i in draws.choices(range(len(streams)), weights, k=POOL * batch_size)]
        pool.sort(key=lambda example: len(example.window.ids))
        batches = [pool[i : i + batch_size] for i in range(0, len(pool), batch_size)]
        draws.shuffle(batches)
        yield from batches


def _shuffled(data: Variants, natural: float, rng: random.Random) -> Iterator[Example]:
    while True:
        for index in rng.sample(range(len(data)), len(data)):
            forms = data[index]
            form = forms[-1] if rng.random() < natural else forms[0]
            yield from form


def targets(
    examples: Sequence[Example],
    batch: Batch,
    *,
    tokenizer: Tokenizer,
    nil: bool,
    negatives: int,
    batch_negatives: int,
    rng: random.Random,
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
    unlinked = torch.tensor([e.unlinked for e in examples])[:, None]
    detection = torch.tensor([e.detection for e in examples])[:, None]
    weight = batch.owned * detection * torch.where(starts > 0, 1.0, unlinked)
    for row, example in enumerate(examples):
        weight[row, list(example.unknown)] = 0.0
    # A NIL mention without candidates has nothing to be told from: it trains detection only.
    linked = [i for i, (_, m) in enumerate(places) if m.title is not None or m.candidates]
    others = sorted({m.title for _, m in places if m.title is not None})
    names = [
        _names(places[i][1], others, nil=nil, negatives=negatives, batch_negatives=batch_negatives, rng=rng)
        for i in linked
    ]
    owner = [row for row, own in enumerate(names) for _ in own]
    sequences = [tokenizer.title(t) if t is not None else (tokenizer.nil_id,) for own in names for t in own]
    first = torch.tensor([0, *(len(own) for own in names)], dtype=torch.long).cumsum(0)[:-1]
    return Targets(
        starts=starts,
        start_weight=weight,
        mentions=mentions,
        linked=torch.tensor(linked, dtype=torch.long),
        tree=PrefixTree.build(sequences, groups=owner, roots=len(linked)),
        owner=torch.tensor(owner, dtype=torch.long),
        gold=first,
    )


def _names(
    mention: GoldMention,
    others: Sequence[str],
    *,
    nil: bool,
    negatives: int,
    batch_negatives: int,
    rng: random.Random,
) -> list[str | None]:
    """The gold title, first, and negatives; None is the name of NIL."""
    wrong = [title for title in mention.candidates if title != mention.title]
    chosen: list[str | None] = [mention.title]
    chosen += rng.sample(wrong, min(negatives, len(wrong)))
    if batch_negatives:
        spare = [title for title in others if title not in chosen]
        chosen += rng.sample(spare, min(batch_negatives, len(spare)))
    if nil and mention.title is not None:
        chosen.append(None)
    return chosen


def training_batch(
    examples: Sequence[Example],
    *,
    tokenizer: Tokenizer,
    nil: bool,
    negatives: int,
    batch_negatives: int,
    rng: random.Random,
) -> tuple[Batch, Targets]:
    """A batch of windows and its targets."""
    batch = collate([example.window for example in examples], pad_id=tokenizer.pad_id)
    return batch, targets(
        examples,
        batch,
        tokenizer=tokenizer,
        nil=nil,
        negatives=negatives,
        batch_negatives=batch_negatives,
        rng=rng,
    )
