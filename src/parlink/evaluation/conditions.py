"""Where candidates come from when a linker is scored, and what it may then see of the gold data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum

from parlink.types import Candidate, Document, Link

_FIELD = "condition"


class Condition(StrEnum):
    """The candidate conditions; every report names its own."""

    GIVEN_STRICT = "given-strict"
    GIVEN_SURFACE = "given-surface"
    KB = "kb"
    NONE = "none"


EXPLANATIONS = {
    Condition.GIVEN_STRICT: (
        "Candidates are those the data gives for the very span; any other detected span counts as a wrong prediction."
    ),
    Condition.GIVEN_SURFACE: (
        "Candidates are looked up by surface in one table made of the candidates of all mentions, NIL ones too; a span "
        "whose surface is not in the table is not predicted. The table's keys are gold surfaces, so it still helps "
        "detection somewhat: read this score beside the one of the kb condition."
    ),
    Condition.KB: (
        "Candidates come from the knowledge base's own alias table; the data gives none. A span without candidates is "
        "not predicted, unless the model was tuned to search the whole knowledge base for it."
    ),
    Condition.NONE: "No candidates: beam search over every title of the knowledge base.",
}


def strip_gold(doc: Document, condition: Condition) -> Document:
    """Return what a linker may see of a gold document: its text, and in given-strict the candidates of its spans."""
    if condition is not Condition.GIVEN_STRICT:
        return Document(doc.text, id=doc.id)
    links = tuple(Link(link.span, candidates=_sort_by_prior(link.candidates)) for link in doc.links if link.candidates)
    return Document(doc.text, id=doc.id, links=links)


def state_condition(doc: Document, condition: Condition) -> Document:
    """Write the condition into a predicted document, so that its links are scored again by the same rules."""
    return replace(doc, extra={**doc.extra, _FIELD: condition.value})


def condition_of(predicted: Iterable[Document]) -> Condition | None:
    """Return the condition that all predicted documents state; None if they state none or not the same."""
    stated = {str(doc.extra.get(_FIELD)) for doc in predicted}
    return Condition(min(stated)) if len(stated) == 1 and min(stated) in set(Condition) else None


def _sort_by_prior(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Keep only title, id and prior, in an order that says no more: some data put the gold title first."""
    plain = [Candidate(one.title, id=one.id, prior=one.prior) for one in candidates]
    return tuple(sorted(plain, key=lambda one: (-(one.prior or 0.0), one.title)))
