"""The data of a training run: each dataset is read, cut into examples and reported on once."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from parlink.config import Dataset, Stage, TrainConfig
from parlink.data import jsonl
from parlink.errors import ConfigError
from parlink.kb import KnowledgeBase
from parlink.text.tokenizer import Tokenizer
from parlink.training.batches import Variants
from parlink.training.examples import DatasetStats, ExampleBuilder
from parlink.training.swap import own_names, swap
from parlink.types import Document

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StageData:
    """Examples of each dataset of a stage."""

    datasets: tuple[Dataset, ...]
    variants: tuple[Variants, ...]

    @property
    def weights(self) -> list[float]:
        """How often each dataset is drawn from, relative to the others."""
        return [dataset.weight for dataset in self.datasets]

    @property
    def epoch(self) -> float:
        """Windows drawn, of all datasets, while the first is seen once."""
        first = sum(len(forms[0]) for forms in self.variants[0])
        return first * sum(self.weights) / self.weights[0]


class TrainingData:
    """Reads the datasets of one stage after the other; what two stages in a row share is read once."""

    def __init__(self, config: TrainConfig, tokenizer: Tokenizer) -> None:
        kb = None if config.kb is None else KnowledgeBase.open(config.kb)
        self._builder = ExampleBuilder(config, tokenizer, kb)
        for path in {dataset.path for stage in config.stages for dataset in stage.train}:
            if not Path(path).is_file():  # said now, and not when the stages before are done
                raise ConfigError(f"{path}: is not there; a stage of the config names it under `train`")
        self._cut: dict[Dataset, Variants] = {}
        self.stats: dict[str, DatasetStats] = {}  # by path

    def stage(self, stage: Stage) -> StageData:
        """The examples of a stage."""
        self._cut = {(key := _unweighted(dataset)): self._cut.get(key) or self._read(key) for dataset in stage.train}
        return StageData(stage.train, tuple(self._cut[_unweighted(dataset)] for dataset in stage.train))

    def _read(self, dataset: Dataset) -> Variants:
        stats = DatasetStats()
        documents = _swapped(dataset) if dataset.swap else jsonl.read(dataset.path)
        cut = self._builder.variants(documents, dataset=dataset, stats=stats)
        if not any(forms[0] for forms in cut):
            raise ConfigError(f"{dataset.path}: holds no text to train on; give documents, one a line")
        if dataset.path not in self.stats:
            self.stats[dataset.path] = stats
            report(dataset.path, stats)
        return cut


def _swapped(dataset: Dataset) -> Iterator[Document]:
    """The documents with some of their names changed, the same ones whenever they are read."""
    names = own_names(jsonl.read(dataset.path))
    rng = random.Random("swap")
    return (swap(doc, names, share=dataset.swap, rng=rng) for doc in jsonl.read(dataset.path))


def report(path: str, stats: DatasetStats) -> None:
    """Tell what a dataset holds and what is wrong with it, each thing once."""
    log.info("%s: %s", path, ", ".join(f"{count:,} {name}" for name, count in stats.sizes.items()))
    if not stats.sizes["linked mentions"]:
        log.warning("%s: 0 linked mentions; such data teaches only where no mention is", path)
    for name, count in stats.problems.items():
        log.warning("%s: %s %s (%.2f %% of mentions)", path, f"{count:,}", name, 100 * count / stats.mentions)


def _unweighted(dataset: Dataset) -> Dataset:
    return msgspec.structs.replace(dataset, weight=1.0)
