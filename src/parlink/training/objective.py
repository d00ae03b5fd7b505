"""What a training step minimizes, and its gradients: over the parts of a batch and over all processes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from parlink.nn.batch import Batch
from parlink.nn.losses import Targets, joint_losses, loss_counts
from parlink.nn.model import LinkingModel
from parlink.text.tokenizer import Tokenizer
from parlink.train_config import TrainConfig
from parlink.training.batches import training_batch
from parlink.training.describe import Describer
from parlink.training.examples import Example
from parlink.training.negatives import NegativeSampler
from parlink.training.processes import Processes


@dataclass(frozen=True, slots=True)
class Objective:
    """The weighted sum of the losses of a model on a batch."""

    config: TrainConfig
    model: LinkingModel
    tokenizer: Tokenizer
    processes: Processes
    describer: Describer | None = None

    def add_gradients(self, examples: Sequence[Example], *, step: int, sampler: NegativeSampler) -> Tensor:
        """Add the gradients of a batch, over all processes, to those of the weights; the losses, each a mean.

        The batch is worked off in `accumulate` parts, and what each loss is divided by is counted beforehand, so that
        the gradients are those of the whole. Everything random follows from the step.
        """
        self.model.train()
        rng = random.Random(f"step {self.config.seed} {step} {self.processes.rank}")
        torch.manual_seed(rng.getrandbits(63))  # dropout
        parts = list(self._parts(examples, sampler, rng))
        counts = self.processes.sum(torch.stack([loss_counts(*part) for part in parts]).sum(0)).clamp(min=1)
        weights = counts.new_tensor(self.config.loss_weights) / counts
        sums = torch.zeros_like(counts)
        for batch, targets in parts:
            losses = self._losses(batch, targets)
            (losses * weights).sum().backward()  # type: ignore[no-untyped-call]
            sums += losses.detach()
        self.processes.sum_gradients(self.model)
        return self.processes.sum(sums) / counts

    def _parts(
        self, examples: Sequence[Example], sampler: NegativeSampler, rng: random.Random
    ) -> Iterator[tuple[Batch, Targets]]:
        """This process's share of a batch, in as many parts as the config says, windows of like length together."""
        config, device = self.config, self.processes.device
        share = self.processes.shard(examples)
        for first in range(0, len(share), config.batch_size):
            batch, targets = training_batch(
                share[first : first + config.batch_size],
                tokenizer=self.tokenizer,
                sampler=sampler,
                rng=rng,
                describer=self.describer,
            )
            yield batch.to(device), targets.to(device)

    def _losses(self, batch: Batch, targets: Targets) -> Tensor:
        generate = self.config.generation_weight > 0 or self.config.normalizer_weight > 0
        smoothing = self.config.label_smoothing
        with self.processes.autocast():
            return joint_losses(self.model, batch, targets, label_smoothing=smoothing, generate=generate)
