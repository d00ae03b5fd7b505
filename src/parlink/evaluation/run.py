"""Ask a linker about gold documents, without showing it the answers, and score what it says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import msgspec

from parlink.config import LinkOptions
from parlink.errors import ParlinkError
from parlink.evaluation.conditions import Condition, strip_gold
from parlink.evaluation.context import NO_CONTEXT, EvalContext
from parlink.evaluation.counting import Rules, linked_mentions
from parlink.evaluation.matching import Match
from parlink.evaluation.pairing import LocatedDocument, PairedDocuments, add_other, check_gold, failures, locate
from parlink.evaluation.scoring import Report, report, score
from parlink.evaluation.thresholds import LOWEST
from parlink.kb.surface_table import SurfaceTable
from parlink.linking.candidates import CandidateSource
from parlink.types import Document

__all__ = ["AnyLinker", "Condition", "Evaluated", "Evaluator", "Report", "evaluate", "score"]

DEFAULT_OPTIONS = LinkOptions()
Progress = Callable[[int], None]  # told how many documents were just done


class AnyLinker(Protocol):
    """What can be scored: `parlink.linking.linker.Linker`, or whatever has these three."""

    @property
    def kb(self) -> object | None:
        """The knowledge base that is linked to, if any."""
        ...

    def with_candidates(self, source: CandidateSource | None, /) -> AnyLinker:
        """Return the same linker with candidates from somewhere else."""
        ...

    def stream(self, documents: Iterable[Document], *, options: LinkOptions) -> Iterator[Document]:
        """Link documents in their order."""
        ...


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A report, and the links that it judges."""

    report: Report
    predicted: tuple[Document, ...]


@dataclass(frozen=True, slots=True)
class Evaluator:
    """A linker under a candidate condition, and the gold documents it is asked about."""

    linker: AnyLinker
    gold: Sequence[Document]
    condition: Condition
    options: LinkOptions

    @classmethod
    def about(
        cls,
        gold: Sequence[Document],
        *,
        linker: AnyLinker,
        condition: Condition,
        options: LinkOptions = DEFAULT_OPTIONS,
        surfaces: SurfaceTable | None = None,
    ) -> Evaluator:
        """Set the linker up; given-surface without a table takes the candidates of all links of `gold`."""
        given = msgspec.structs.replace(options, fallback=False)
        if condition is Condition.GIVEN_STRICT:
            _refuse_no_candidates(gold)
            return cls(linker.with_candidates(None), gold, condition, given)
        if condition is Condition.GIVEN_SURFACE:
            table = SurfaceTable.from_documents(gold) if surfaces is None else surfaces
            if not len(table):
                _refuse_no_candidates(gold)
            return cls(linker.with_candidates(table), gold, condition, given)
        if linker.kb is None:
            raise ParlinkError(f"the condition {condition} needs a knowledge base; give one with --kb FOLDER")
        if condition is Condition.NONE:
            options = msgspec.structs.replace(options, search="beam", fallback=True)
            return cls(linker.with_candidates(None), gold, condition, options)
        return cls(linker, gold, condition, options)

    def links(self) -> Iterator[Document]:
        """Let it find and link mentions."""
        return self.linker.stream((strip_gold(doc, self.condition) for doc in self.gold), options=self.options)

    def choices(self) -> Iterator[Document]:
        """Give it the gold spans, and let it choose an entity for each, whatever the score."""
        options = msgspec.structs.replace(self.options, score_threshold=-math.inf, min_confidence=0.0)
        given = ((doc, tuple(link.span for link in linked_mentions(doc))) for doc in self.gold)
        documents = (replace(strip_gold(doc, self.condition), spans=spans) for doc, spans in given)
        return self.linker.stream(documents, options=options)

    def proposals(self, *, threshold: float = LOWEST) -> Iterator[Document]:
        """Let it link whatever might be a mention, overlaps kept: what thresholds are chosen on."""
        options = msgspec.structs.replace(
            self.options, mention_threshold=threshold, score_threshold=-math.inf, min_confidence=0.0, overlaps="keep"
        )
        return self.linker.stream((strip_gold(doc, self.condition) for doc in self.gold), options=options)


def evaluate(
    linker: AnyLinker,
    gold: Sequence[Document | LocatedDocument],
    *,
    condition: Condition,
    options: LinkOptions = DEFAULT_OPTIONS,
    match: Match = Match.STRONG,
    context: EvalContext = NO_CONTEXT,
    surfaces: SurfaceTable | None = None,
    other: Sequence[Document | LocatedDocument] | None = None,
    progress: Progress | None = None,
) -> Evaluated:
    """Link every document under a candidate condition, then choose entities for the gold spans, and score both."""
    items = locate(gold, "gold")
    documents = [item.doc for item in items]
    warnings = check_gold(items)
    asked = Evaluator.about(documents, linker=linker, condition=condition, options=options, surfaces=surfaces)
    compared = add_other(PairedDocuments((), ()), items, None if other is None else locate(other, "other"))
    predicted = tuple(_tell_progress(asked.links(), progress))
    chosen = tuple(_tell_progress(asked.choices(), progress))
    warnings += failures(LocatedDocument(doc, item.place) for doc, item in zip(predicted, items, strict=True))
    rules = Rules(match, condition)
    paired = PairedDocuments(tuple(documents), predicted, warnings + compared.warnings, compared.other)
    return Evaluated(
        report(paired, rules=rules, context=context, chosen=chosen, all_candidates=asked.options.search == "rank"),
        predicted,
    )


def _refuse_no_candidates(gold: Sequence[Document]) -> None:
    if not any(link.candidates for doc in gold for link in doc.links):
        raise ParlinkError(
            "the data gives no candidates, so every score would be 0; use --condition kb, "
            "or data whose links have candidates"
        )


def _tell_progress(documents: Iterable[Document], progress: Progress | None) -> Iterator[Document]:
    for doc in documents:
        yield doc
        if progress is not None:
            progress(1)
