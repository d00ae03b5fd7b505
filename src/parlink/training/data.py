"""The data of a training run: each dataset is looked through once, and then streamed from its file."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import msgspec

from parlink.data import jsonl
from parlink.errors import ConfigError
from parlink.kb import KnowledgeBase
from parlink.text.tokenizer import Tokenizer
from parlink.train_config import Dataset, Shapes, Stage, TrainConfig
from parlink.training.batches import BatchStream
from parlink.training.examples import DatasetStats, Example, ExampleBuilder
from parlink.training.shapes import reshape
from parlink.training.stream import Cursor, ExampleStream
from parlink.training.swap import Names, gather_names, swap
from parlink.types import Document

MEGABYTE = 2**20

log = logging.getLogger(__name__)


class DatasetSizes(msgspec.Struct, frozen=True, kw_only=True):
    """What was counted when a dataset was looked through, which a run that goes on need not do again."""

    bytes: int  # of the file; another number means other data
    sizes: dict[str, int]


@dataclass(frozen=True, slots=True)
class StageData:
    """The datasets of a stage, each ready to be streamed from any place."""

    config: TrainConfig
    datasets: tuple[Dataset, ...]
    windows: tuple[int, ...]  # that each dataset holds
    builders: tuple[DocumentBuilder, ...]

    @property
    def epoch(self) -> float:
        """Windows drawn, of all datasets, while the first is seen once."""
        return self.windows[0] * sum(dataset.weight for dataset in self.datasets) / self.datasets[0].weight

    def batches(
        self, *, batch_size: int, seed: str, step: int = 0, cursors: Sequence[Cursor] | None = None
    ) -> BatchStream:
        """The batches of a stage from a step on; `cursors` are those that belong to it, none at its beginning."""
        places = cursors or [Cursor()] * len(self.datasets)
        streams = [
            ExampleStream(
                builder.dataset.path,
                builder.build,
                buffer_bytes=int(self.config.shuffle_megabytes * MEGABYTE),
                seed=f"{seed} {number}",
                cursor=cursor,
            )
            for number, (builder, cursor) in enumerate(zip(self.builders, places, strict=True))
        ]
        weights = [dataset.weight for dataset in self.datasets]
        return BatchStream(streams, weights, batch_size=batch_size, seed=seed, step=step)


@dataclass(frozen=True, slots=True)
class DocumentBuilder:
    """Makes examples of the lines of a dataset: each document looks somewhat different in every epoch."""

    examples: ExampleBuilder
    dataset: Dataset
    names: Names  # to be put in the place of others

    def build(self, line: bytes, number: int, rng: random.Random) -> list[Example]:
        """The windows of the document in a line; what changes in it is drawn from `rng`."""
        doc = jsonl.decode(line, path=self.dataset.path, line=number)
        if self.dataset.swap:
            doc = swap(doc, self.names, share=self.dataset.swap, rng=rng)
        shapes = self.dataset.shapes or Shapes(natural=self.examples.config.natural)
        shown = reshape(doc, shapes, rng)
        spelled = doc.text if len(shown.text) == len(doc.text) else shown.text
        return self.examples.examples(shown, dataset=self.dataset, stats=DatasetStats(), spelled=spelled)


class TrainingData:
    """The datasets of a run; `sizes` is what is known of them, by path, from a part of the run that is done."""

    def __init__(
        self, config: TrainConfig, tokenizer: Tokenizer, *, sizes: Mapping[str, DatasetSizes] | None = None
    ) -> None:
        self._config = config
        self.kb = None if config.kb is None else KnowledgeBase.open(config.kb)
        self._examples = ExampleBuilder(config, tokenizer, self.kb)
        self.sizes = dict(sizes or {})
        for path in {dataset.path for stage in config.stages for dataset in stage.train}:
            if not Path(path).is_file():  # said now, and not when the stages before are done
                raise ConfigError(f"{path}: is not there; a stage of the config names it under `train`")
            if path in self.sizes and Path(path).stat().st_size != self.sizes[path].bytes:
                raise ConfigError(f"{path}: has changed since the run began; put it back, or start a new run")

    def stage(self, stage: Stage) -> StageData:
        """The data of a stage; what is seen for the first time is looked through, counted and reported on."""
        for dataset in stage.train:
            if dataset.path not in self.sizes:
                self.sizes[dataset.path] = self._look_through(dataset)
        windows = tuple(self.sizes[dataset.path].sizes["windows"] for dataset in stage.train)
        builders = tuple(
            DocumentBuilder(self._examples, dataset, gather_names(jsonl.read(dataset.path)) if dataset.swap else {})
            for dataset in stage.train
        )
        return StageData(self._config, stage.train, windows, builders)

    def some(self, stage: Stage, *, most: int) -> Iterator[Document]:
        """At most so many documents of each dataset of a stage, evenly spread."""
        for path in dict.fromkeys(dataset.path for dataset in stage.train):
            every = -(-self.sizes[path].sizes["documents"] // most)
            yield from islice(jsonl.read(path), 0, None, every)

    def _look_through(self, dataset: Dataset) -> DatasetSizes:
        stats = DatasetStats()
        for doc in jsonl.read(dataset.path):
            self._examples.examples(doc, dataset=dataset, stats=stats)
        if not stats.sizes["windows"]:
            raise ConfigError(f"{dataset.path}: holds no text to train on; give documents, one a line")
        report(dataset.path, stats)
        return DatasetSizes(bytes=Path(dataset.path).stat().st_size, sizes=dict(stats.sizes))


def report(path: str, stats: DatasetStats) -> None:
    """Tell what a dataset holds and what is wrong with it, each thing once."""
    log.info("%s: %s", path, ", ".join(f"{count:,} {name}" for name, count in stats.sizes.items()))
    if not stats.sizes["linked mentions"]:
        log.warning("%s: 0 linked mentions; such data teaches only where no mention is", path)
    for name, count in stats.problems.items():
        log.warning("%s: %s %s (%.2f %% of mentions)", path, f"{count:,}", name, 100 * count / stats.mentions)
