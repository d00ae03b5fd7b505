"""Every error of the InKB linking score, sorted into kinds that say what to work on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from parlink.evaluation.counting import NO_CANDIDATE, Rules, asserted_links, entities, entity, linked_mentions, spans
from parlink.evaluation.matching import one_to_one
from parlink.types import Candidate, Document, Link, Span


class ErrorKind(StrEnum):
    """Group and kind; the first that fits, in this order."""

    MISSED_LOWER_CASE = "missed: lower case"
    MISSED_PARTIAL_OVERLAP = "missed: partial overlap"
    MISSED_OTHER = "missed: other"
    FALSE_ON_GOLD_NIL = "false detection: on gold NIL"
    FALSE_WRONG_SPAN = "false detection: wrong span"
    FALSE_OTHER = "false detection: other"
    ENTITY_NOT_A_CANDIDATE = "wrong entity: gold not among the candidates"
    ENTITY_PARTIAL_NAME = "wrong entity: partial name"
    ENTITY_RARE = "wrong entity: rare, gold is not the top prior"
    ENTITY_PRIOR_RIGHT = "wrong entity: prior right but model wrong"
    ENTITY_OTHER = "wrong entity: other"

    @property
    def group(self) -> str:
        """Return "missed", "false detection" or "wrong entity"."""
        return self.value.partition(": ")[0]

    @property
    def name_in_group(self) -> str:
        """Return the kind without its group."""
        return self.value.partition(": ")[2]


@dataclass(frozen=True, slots=True)
class LinkError:
    """One error: a gold mention without its link, a link without a gold mention, or the two on one span."""

    kind: ErrorKind
    document: int  # index of the document
    span: Span  # of the gold mention where there is one
    gold: Link | None = None
    predicted: Link | None = None
    beside: tuple[Link, ...] = ()  # of a missed mention the predictions that overlap it, of a false one the gold


def link_errors(gold: Document, predicted: Document, rules: Rules, *, index: int = 0) -> list[LinkError]:
    """Sort the errors of a document into kinds.

    Missed and wrong entity are together the false negatives; false detection and wrong entity the false positives.
    """
    wanted, found = linked_mentions(gold), asserted_links(predicted, rules)
    right = one_to_one(entities(wanted), entities(found), rules.match)
    lost = _without(wanted, (i for i, _ in right))
    wrong = _without(found, (j for _, j in right))
    mixed = one_to_one(spans(lost), spans(wrong), rules.match)
    missed = _without(lost, (i for i, _ in mixed))
    false = _without(wrong, (j for _, j in mixed))
    nil = {link.span for link in gold.links if entity(link) is None}
    errors = []
    for link in missed:
        beside = _overlapping(link, found)
        errors.append(LinkError(_classify_missed(link, gold.text, beside), index, link.span, gold=link, beside=beside))
    for link in false:
        beside = _overlapping(link, gold.links)
        errors.append(LinkError(_false(link, beside, nil), index, link.span, predicted=link, beside=beside))
    for i, j in mixed:
        kind = _wrong_entity(lost[i], wrong[j], gold.text)
        errors.append(LinkError(kind, index, lost[i].span, gold=lost[i], predicted=wrong[j]))
    return sorted(errors, key=lambda error: error.span)


def error_counts(errors: Iterable[LinkError]) -> dict[str, dict[str, int]]:
    """Count errors by group and kind; a kind without errors has 0."""
    counts: dict[str, dict[str, int]] = {}
    for kind in ErrorKind:
        counts.setdefault(kind.group, {})[kind.name_in_group] = 0
    for error in errors:
        counts[error.kind.group][error.kind.name_in_group] += 1
    return counts


def _without(links: Sequence[Link], taken: Iterator[int]) -> list[Link]:
    gone = set(taken)
    return [link for index, link in enumerate(links) if index not in gone]


def _overlapping(link: Link, others: Iterable[Link]) -> tuple[Link, ...]:
    return tuple(other for other in others if link.span.overlaps(other.span))


def _classify_missed(link: Link, text: str, beside: Sequence[Link]) -> ErrorKind:
    surface = text[link.span.start : link.span.end]
    if surface == surface.lower() and any(letter.isalpha() for letter in surface):
        return ErrorKind.MISSED_LOWER_CASE
    if beside:
        return ErrorKind.MISSED_PARTIAL_OVERLAP
    return ErrorKind.MISSED_OTHER


def _false(link: Link, beside: Sequence[Link], nil: set[Span]) -> ErrorKind:
    if link.span in nil:
        return ErrorKind.FALSE_ON_GOLD_NIL
    if any(link.span != other.span for other in beside):
        return ErrorKind.FALSE_WRONG_SPAN
    return ErrorKind.FALSE_OTHER


def _wrong_entity(gold: Link, predicted: Link, text: str) -> ErrorKind:
    title, candidates = entity(gold), predicted.candidates
    if predicted.reason == NO_CANDIDATE or (candidates and title not in {c.title for c in candidates}):
        return ErrorKind.ENTITY_NOT_A_CANDIDATE
    if _is_part(text[gold.span.start : gold.span.end], title or ""):
        return ErrorKind.ENTITY_PARTIAL_NAME
    if not (likeliest := _likeliest(candidates)):
        return ErrorKind.ENTITY_OTHER
    return ErrorKind.ENTITY_PRIOR_RIGHT if title in likeliest else ErrorKind.ENTITY_RARE


def _is_part(surface: str, title: str) -> bool:
    """Whether the surface is some of the words of a title, its bracket left out, but not all of them."""
    name = re.findall(r"\w+", re.sub(r"\s*\([^)]*\)$", "", title).casefold())
    words = re.findall(r"\w+", surface.casefold())
    return 0 < len(words) < len(name) and set(words) <= set(name)


def _likeliest(candidates: Sequence[Candidate]) -> set[str]:
    highest = max((c.prior for c in candidates if c.prior is not None), default=None)
    return {c.title for c in candidates if highest is not None and c.prior == highest}
