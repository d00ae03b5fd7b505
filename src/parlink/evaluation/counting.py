"""What counts as right in one document: GERBIL's annotation match, with and without mentions that have no entity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from parlink.evaluation.conditions import Condition
from parlink.evaluation.matching import Annotation, Match, one_to_one
from parlink.evaluation.metrics import Counts
from parlink.types import Document, Link

NO_CANDIDATE = "no_candidate"  # the reason of a link whose span had nothing to choose from


@dataclass(frozen=True, slots=True)
class Rules:
    """How predictions are compared with gold."""

    match: Match = Match.STRONG
    condition: Condition | None = None  # None: someone's predictions, made in a way we do not know


DEFAULT_RULES = Rules()


def entity(link: Link) -> str | None:
    """Return what a link names: its title, or the identifier that could not be turned into one."""
    return link.title if link.title is not None else link.id


def linked_mentions(gold: Document) -> list[Link]:
    """Return the gold mentions to which the benchmark gives an entity."""
    return [link for link in gold.links if entity(link) is not None]


def is_asserted(link: Link, rules: Rules) -> bool:
    """Whether the InKB score counts a prediction: it names an entity.

    In given-strict also a span for which there were no candidates: a detection off the given
    spans is a wrong prediction, it may not vanish.
    """
    lost = rules.condition is Condition.GIVEN_STRICT and link.reason == NO_CANDIDATE
    return lost or entity(link) is not None


def asserted_links(predicted: Document, rules: Rules) -> list[Link]:
    """Return the predictions that the InKB score counts."""
    return [link for link in predicted.links if is_asserted(link, rules)]


def answered_links(predicted: Document, rules: Rules) -> list[Link]:
    """Return the predictions that the score with NIL counts.

    In given-surface a span whose surface is not in the table is not predicted at all.
    """
    if rules.condition is not Condition.GIVEN_SURFACE:
        return list(predicted.links)
    return [link for link in predicted.links if link.reason != NO_CANDIDATE]


def entities(links: Iterable[Link]) -> list[Annotation]:
    """Compare span and entity."""
    return [Annotation(link.span, entity(link)) for link in links]


def spans(links: Iterable[Link]) -> list[Annotation]:
    """Compare spans only."""
    return [Annotation(link.span, "") for link in links]


View = Callable[[Iterable[Link]], list[Annotation]]


def count(gold: Sequence[Annotation], predicted: Sequence[Annotation], match: Match) -> Counts:
    """Count pairs, and what is left on either side."""
    tp = len(one_to_one(gold, predicted, match))
    return Counts(tp, len(predicted) - tp, len(gold) - tp)


def inkb(gold: Document, predicted: Document, rules: Rules, view: View = entities) -> Counts:
    """Count after everything without an entity is filtered out."""
    return count(view(linked_mentions(gold)), view(asserted_links(predicted, rules)), rules.match)


def with_nil(gold: Document, predicted: Document, rules: Rules, view: View = entities) -> Counts:
    """Count all mentions: a predicted NIL on a gold NIL span is right."""
    return count(view(gold.links), view(answered_links(predicted, rules)), rules.match)


def choice(gold: Document, chosen: Document) -> Counts:
    """Count the right entities among the answers for the gold spans; a span without an answer is wrong.

    As many false positives as false negatives, so that precision, recall and F1 are all the accuracy.
    """
    wanted = entities(linked_mentions(gold))
    tp = len(one_to_one(wanted, entities(chosen.links)))
    return Counts(tp, len(wanted) - tp, len(wanted) - tp)


def of_entities(gold: Document, predicted: Document, rules: Rules, keep: Callable[[str], bool]) -> Counts:
    """Count InKB annotations, on both sides, of some entities only; the counts of two halves add up to the whole."""
    wanted = [link for link in linked_mentions(gold) if keep(entity(link) or "")]
    found = [link for link in asserted_links(predicted, rules) if keep(entity(link) or "")]
    return count(entities(wanted), entities(found), rules.match)
