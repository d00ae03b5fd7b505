"""Names apart from common nouns, where gold data tell which is which: a link's `what` is "name", or something else.

Systems that link names only lose all common nouns of a benchmark, and those that link both are wrong about either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from parlink.evaluation.counting import Rules, asserted_links, count, entities, linked_mentions
from parlink.evaluation.metrics import Averages, Counts, averages, total
from parlink.types import Document, Link

WHAT = "what"  # the field of a gold link
NAME = "name"  # what it says of a name


@dataclass(frozen=True, slots=True)
class KindSplit:
    """Linking InKB of names, and of all else."""

    names: Averages
    others: Averages
    name_counts: Counts
    other_counts: Counts


def split_kinds(pairs: Sequence[tuple[Document, Document]], rules: Rules) -> KindSplit | None:
    """Count names and other mentions apart, on both sides; None where gold tells of no mention what it is.

    A predicted link is of the kind of the gold mention at its span; elsewhere it is of a name if it has a capital.
    """
    if not any(WHAT in link.extra for gold, _ in pairs for link in gold.links):
        return None
    names: list[Counts] = []
    others: list[Counts] = []
    for gold, predicted in pairs:
        is_name = _tell_names(gold)
        wanted, found = linked_mentions(gold), asserted_links(predicted, rules)
        for kind, counts in ((True, names), (False, others)):
            gold_kept, found_kept = (entities(_keep(links, is_name, kind)) for links in (wanted, found))
            counts.append(count(gold_kept, found_kept, rules.match))
    return KindSplit(averages(names), averages(others), total(names), total(others))


def _tell_names(gold: Document) -> Callable[[Link], bool]:
    told = {link.span: link.extra[WHAT] == NAME for link in gold.links if WHAT in link.extra}
    return lambda link: told.get(link.span, not gold.text[link.span.start : link.span.end].islower())


def _keep(links: Iterable[Link], is_name: Callable[[Link], bool], kind: bool) -> list[Link]:
    return [link for link in links if is_name(link) is kind]
