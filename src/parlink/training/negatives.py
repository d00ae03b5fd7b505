"""The wrong names that the gold name of a mention is told from, by where they come from."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from parlink.config import LinkOptions
from parlink.linking.linker import Linker
from parlink.train_config import TrainConfig
from parlink.training.examples import GoldMention
from parlink.types import Document, Entity

MOST_CONFUSED = 16  # titles that are remembered for a title
Confusions = Mapping[str, Sequence[str]]  # title -> titles that the model took for it


@dataclass(frozen=True, slots=True)
class SameType:
    """Titles by the type that the knowledge base gives them."""

    type_of: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def gather(cls, entities: Iterable[Entity | None]) -> SameType:
        """Sort entities by their types."""
        titles: dict[str, list[str]] = defaultdict(list)
        for entity in entities:
            if entity is not None and entity.type:
                titles[entity.type].append(entity.title)
        return cls({title: kind for kind, group in titles.items() for title in group}, titles)


@dataclass(frozen=True, slots=True)
class Negatives:
    """How many wrong names of each kind a mention gets; a number larger than there are takes all of them."""

    candidates: int = 1  # of the mention
    batch: int = 0  # gold titles of other mentions of the batch
    hard: int = 0  # that the model took for the title
    same_type: int = 0
    nil: bool = False  # NIL is one of the names

    @classmethod
    def of(cls, config: TrainConfig) -> Negatives:
        """What a config asks for; none where no classifier is trained."""
        if not config.classifier_weight:
            return cls(candidates=0, nil=config.nil)
        return cls(config.negatives, config.batch_negatives, config.hard_negatives, config.type_negatives, config.nil)


@dataclass(frozen=True, slots=True)
class NegativeSampler:
    """Draws the names of mentions."""

    counts: Negatives
    confusions: Confusions = field(default_factory=dict)
    types: SameType = field(default_factory=SameType)

    def names(self, mention: GoldMention, others: Sequence[str], rng: random.Random) -> list[str | None]:
        """The gold title, first, and negatives, none twice; None is the name of NIL. `others` are of the batch."""
        chosen: list[str | None] = [mention.title]
        for count, titles in self._sources(mention, others):
            if count:
                spare = [title for title in titles if title not in chosen]
                chosen += rng.sample(spare, min(count, len(spare)))
        if self.counts.nil and mention.title is not None:
            chosen.append(None)
        return chosen

    def _sources(self, mention: GoldMention, others: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
        counts, title = self.counts, mention.title or ""
        yield counts.candidates, mention.candidates
        yield counts.hard, self.confusions.get(title, ())
        if counts.same_type:
            yield counts.same_type, self.types.titles.get(self.types.type_of.get(title, ""), ())
        yield counts.batch, others


def find_confusions(linker: Linker, documents: Iterable[Document]) -> dict[str, list[str]]:
    """Let the model search all titles for the linked mentions of documents: what it finds instead of each title."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    search = linker.with_candidates(None)
    gold: list[list[str | None]] = []  # filled as the documents are asked for, so before they come back

    def ask() -> Iterator[Document]:
        for doc in documents:
            links = [link for link in doc.links if link.title is not None]
            gold.append([link.title for link in links])
            yield Document(doc.text, spans=tuple(link.span for link in links))

    for linked, titles in zip(search.stream(ask(), options=LinkOptions(fallback=True)), gold, strict=True):
        for title, link in zip(titles, linked.links, strict=False):  # a document that failed has none
            counts[title or ""].update(each.title for each in link.candidates if each.title != title)
    return {title: [wrong for wrong, _ in found.most_common(MOST_CONFUSED)] for title, found in counts.items()}
