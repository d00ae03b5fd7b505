"""Model selection while training, and the thresholds at its end, on the validation documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from parlink.checkpoint.folder import Checkpoint
from parlink.config import LinkOptions
from parlink.data import jsonl
from parlink.errors import ConfigError
from parlink.evaluation import counting
from parlink.evaluation.conditions import Condition
from parlink.evaluation.context import apply_redirects, gather
from parlink.evaluation.counting import Rules
from parlink.evaluation.metrics import Counts, Scores, scores, total
from parlink.evaluation.run import Evaluator
from parlink.kb import KnowledgeBase
from parlink.kb.surface_table import SurfaceTable
from parlink.linking.candidates import CandidateSource
from parlink.linking.linker import Linker
from parlink.train_config import TrainConfig
from parlink.training.processes import Processes
from parlink.types import Document


@dataclass(frozen=True, slots=True)
class Validation:
    """Gold documents and where their candidates come from."""

    documents: Sequence[Document]
    some: Sequence[Document]  # those that are linked while training
    condition: Condition
    source: CandidateSource
    kb: KnowledgeBase | None = None  # where a bi-encoder finds descriptions

    @classmethod
    def load(cls, config: TrainConfig) -> Validation | None:
        """Read the validation data, if there is any; its own candidates by surface, or else the KB's."""
        if config.validation is None:
            return None
        documents = list(jsonl.read(config.validation))
        count = config.validation_documents or len(documents)
        table = SurfaceTable.from_documents(documents)
        kb = None if config.kb is None else KnowledgeBase.open(config.kb)
        if len(table):
            return cls(documents, _spread(documents, count), Condition.GIVEN_SURFACE, table, kb)
        if kb is None:
            raise ConfigError(f"{config.validation}: has no candidates, and the config names no kb to take them from")
        redirects = gather(kb=kb).redirects
        documents = [apply_redirects(doc, redirects) for doc in documents]
        return cls(documents, _spread(documents, count), Condition.KB, kb, kb)

    @property
    def tuning(self) -> Condition:
        """Where thresholds are chosen: a table of gold surfaces would hide false detections."""
        return Condition.GIVEN_STRICT if self.condition is Condition.GIVEN_SURFACE else self.condition

    def scores(self, checkpoint: Checkpoint, processes: Processes) -> tuple[Scores, Scores]:
        """Linking and detection InKB micro, at the model's present threshold; the processes share the work."""
        documents = processes.shard(self.some)
        linker = Linker(checkpoint, kb=self.kb, source=self.source, device=str(processes.device))
        predicted = list(Evaluator(linker, documents, self.condition, LinkOptions()).links())
        rules = Rules(condition=self.condition)
        pairs = list(zip(documents, predicted, strict=True))
        both = [
            total([counting.inkb(gold, found, rules, view) for gold, found in pairs])
            for view in (counting.entities, counting.spans)
        ]
        counts = processes.sum(torch.tensor([[one.tp, one.fp, one.fn] for one in both], dtype=torch.float64))
        linking, detection = (scores(Counts(*map(int, row))) for row in counts.tolist())
        return linking, detection


def _spread(documents: Sequence[Document], count: int) -> Sequence[Document]:
    """At most `count` documents, evenly spread."""
    step = len(documents) / max(count, 1)
    return [documents[int(i * step)] for i in range(min(count, len(documents)))]
