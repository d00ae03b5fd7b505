"""How fast a training step is: against the encoder alone, and its decoder against names unrolled alone and padded.

    OMP_NUM_THREADS=1 python benchmarks/train.py --data train.jsonl --encoder FOLDER

The ways are timed in turn on the same batches, so that the ratios hold on a busy machine too. Without --data and
--encoder, made-up documents and random weights of the paper's sizes are used. With one thread, the time is that of
the processor, not of the clock.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from parlink.checkpoint.folder import Checkpoint
from parlink.data import jsonl
from parlink.model_config import EncoderConfig
from parlink.nn.batch import Batch
from parlink.nn.losses import Targets, classifier_loss, joint_losses, loss_counts, name_losses
from parlink.nn.model import LinkingModel
from parlink.train_config import SCRATCH, Dataset, Stage, TrainConfig
from parlink.training.batches import training_batch
from parlink.training.data import TrainingData
from parlink.training.initial import initial_checkpoint
from parlink.training.negatives import Negatives, NegativeSampler
from parlink.training.optimizer import make_optimizer, set_rates
from parlink.types import Candidate, Document, Link, Span

SMOOTHING = 0.1
SIZES = EncoderConfig(  # the paper's encoder
    family="roberta",
    vocab_size=50_265,
    hidden=768,
    layers=8,
    heads=12,
    intermediate=3072,
    positions=514,
    position_offset=2,
)
Prepared = tuple[Batch, Targets]


def made_up_documents(count: int = 200) -> list[Document]:
    """Documents with a mention every twelve words, each with nine candidates that share their first words."""
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghiklmnoprstuvw", k=rng.randint(2, 9))) for _ in range(4000)]
    documents = []
    for number in range(count):
        text, links = "", []
        for place in range(rng.randint(60, 400)):
            word = rng.choice(words)
            if place % 12 == 0:
                titles = [f"{word} {' '.join(rng.choices(words, k=rng.randint(1, 4)))}" for _ in range(9)]
                span = Span(len(text), len(text) + len(word))
                links.append(Link(span, titles[0], candidates=tuple(map(Candidate, titles))))
            text += f"{word} "
        documents.append(Document(text, id=str(number), links=tuple(links)))
    return documents


def prepare(config: TrainConfig, checkpoint: Checkpoint, count: int) -> list[Prepared]:
    """Batches of the stage's data, of all lengths."""
    data = TrainingData(config, checkpoint.tokenizer).stage(config.stages[0])
    drawn = data.batches(batch_size=config.batch_size, seed="0")
    pool = sorted(islice(drawn, 32), key=lambda examples: len(examples[0].window.ids))
    chosen = pool[len(pool) // (2 * count) :: max(1, len(pool) // count)][:count]
    return [
        training_batch(
            examples,
            tokenizer=checkpoint.tokenizer,
            sampler=NegativeSampler(Negatives.of(config)),
            rng=random.Random(0),
        )
        for examples in chosen
    ]


def plain_name_losses(model: LinkingModel, states: Tensor, targets: Targets) -> Tensor:
    """The same losses the plain way: every name unrolled on its own from its mention, and padded to the longest.

    The output layer is used for the gold names only, as ours is.
    """
    decoder = model.decoder
    known = decoder.mentions(states, targets.mentions[targets.linked])
    names = [torch.tensor(name) for name in spelled(targets)]
    length = torch.tensor([len(name) for name in names])
    read = pad_sequence([F.pad(name, (1, 0), value=decoder.bos_id) for name in names], batch_first=True)
    of = targets.owner
    hidden, cell, vector = known.hidden[of], known.cell[of], known.vector[of]
    hiddens, cells = [], []
    for step in range(read.shape[1]):
        inputs = decoder.dropout(torch.cat([model.encoder.token_embeddings(read[:, step]), vector], -1))
        hidden, cell = decoder.lstm(inputs, (hidden, cell))
        hiddens.append(hidden)
        cells.append(cell)
    last = torch.stack(cells, 1)[torch.arange(len(names)), length]
    classifier = classifier_loss(decoder.correct(known, of, last), of, targets.gold)
    gold = torch.stack(hiddens, 1)[targets.gold]
    logits = decoder.head.decoder(decoder.head.features(decoder.dropout(gold)))
    ends = [F.pad(names[i], (0, 1), value=decoder.eos_id) for i in targets.gold.tolist()]
    wanted = pad_sequence(ends, batch_first=True, padding_value=-100)
    wanted = F.pad(wanted, (0, logits.shape[1] - wanted.shape[1]), value=-100)
    each = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none", label_smoothing=SMOOTHING)
    generation = (each.view_as(wanted) / (length[targets.gold][:, None] + 1)).sum()
    return generation + classifier


def spelled(targets: Targets) -> list[list[int]]:
    """The tokens of every name, read off the tree."""
    tree = targets.tree
    parent, token = tree.parents().tolist(), tree.token.tolist()
    names = []
    for leaf in tree.ends().tolist():
        name, node = [], leaf
        while node >= tree.roots:
            name.append(token[node])
            node = parent[node]
        names.append(name[::-1])
    return names


class Ways:
    """What is timed; each is a forward and a backward pass over a batch."""

    def __init__(self, model: LinkingModel, config: TrainConfig) -> None:
        self.model, self.optimizer = model.train(), make_optimizer(model, config)
        set_rates(self.optimizer, config.stages[0], 0.0)

    def encoder(self, batch: Batch, _: Targets) -> None:
        """Encoder alone."""
        states = self.model.encode(batch)
        states.backward(torch.ones_like(states))  # type: ignore[no-untyped-call]

    def losses(self, batch: Batch, targets: Targets) -> None:
        """Whole model, forward and backward."""
        losses = joint_losses(self.model, batch, targets, label_smoothing=SMOOTHING)
        (losses / loss_counts(batch, targets).clamp(min=1))[:4].sum().backward()  # type: ignore[no-untyped-call]

    def step(self, batch: Batch, targets: Targets) -> None:
        """Whole model, and the weights changed."""
        self.losses(batch, targets)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()

    def ours(self, batch: Batch, targets: Targets) -> None:
        """Decoder and losses of names, from given states."""
        states = self._states(batch)
        name_losses(self.model, states, batch, targets, label_smoothing=SMOOTHING)[:2].sum().backward()  # type: ignore[no-untyped-call]

    def plain(self, batch: Batch, targets: Targets) -> None:
        """The same, each name alone and padded."""
        plain_name_losses(self.model, self._states(batch), targets).backward()  # type: ignore[no-untyped-call]

    def _states(self, batch: Batch) -> Tensor:
        shape = (*batch.tokens.shape, self.model.config.encoder.hidden)
        return torch.randn(shape, generator=torch.Generator().manual_seed(0)).requires_grad_()


def seconds(way: Callable[[Batch, Targets], None], ways: Ways, prepared: Prepared) -> float:
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    ways.optimizer.zero_grad()
    begin = clock()
    way(*prepared)
    return clock() - begin


def measure(ways: Ways, batches: Sequence[Prepared], *, rounds: int) -> dict[str, float]:
    """Seconds for all batches, by way: the median over rounds of each batch."""
    names = ("encoder", "losses", "step", "ours", "plain")
    total = dict.fromkeys(names, 0.0)
    for prepared in batches:
        times: dict[str, list[float]] = {name: [] for name in names}
        for number in range(rounds + 1):
            for name in names:
                taken = seconds(getattr(ways, name), ways, prepared)
                if number:  # the first round warms up
                    times[name].append(taken)
        for name in names:
            total[name] += median(times[name])
    return total


def check(model: LinkingModel, prepared: Prepared) -> None:
    """Both ways are the same function: that is what makes them worth comparing."""
    batch, targets = prepared
    with torch.no_grad():
        states = model.eval().encode(batch)
        ours = name_losses(model, states, batch, targets, label_smoothing=SMOOTHING)[:2].sum()
        torch.testing.assert_close(ours, plain_name_losses(model, states, targets), rtol=1e-4, atol=1e-3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="training documents, JSONL")
    parser.add_argument("--encoder", default=SCRATCH, help="folder of an encoder")
    parser.add_argument("--layers", type=int, help="layers of it to keep")
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--train-tokens", type=int, default=512)
    parser.add_argument("--negatives", type=int, default=8)
    parser.add_argument("--tie-output", action="store_true")
    parser.add_argument("--batches", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        data = options.data or Path(folder) / "made-up.jsonl"
        if options.data is None:
            jsonl.write(data, made_up_documents())
        config = TrainConfig(
            output=folder,
            encoder=options.encoder,
            architecture=SIZES if options.encoder == SCRATCH else None,
            layers=options.layers,
            batch_size=options.batch_size,
            train_tokens=options.train_tokens,
            negatives=options.negatives,
            tie_output=options.tie_output,
            stages=(Stage(train=(Dataset(path=str(data)),), steps=1),),
        )
        checkpoint = initial_checkpoint(config)
        batches = prepare(config, checkpoint, options.batches)
    check(checkpoint.model, batches[0])
    taken = measure(Ways(checkpoint.model, config), batches, rounds=options.rounds)
    tokens = sum(int(batch.mask.sum()) for batch, _ in batches)
    print(
        json.dumps(
            {
                "encoder": Path(options.encoder).name,
                "threads": torch.get_num_threads(),
                "torch": torch.__version__,
                "tokens": tokens,
                "tokens_per_second": {name: round(tokens / value) for name, value in taken.items()},
                "losses_over_encoder": round(taken["losses"] / taken["encoder"], 2),
                "step_over_encoder": round(taken["step"] / taken["encoder"], 2),
                "plain_over_ours": round(taken["plain"] / taken["ours"], 2),
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
