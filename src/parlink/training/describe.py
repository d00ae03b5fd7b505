"""What a bi-encoder in training reads of entities: titles, and what the knowledge base and a file of leads say."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from parlink.data import files
from parlink.errors import DataFormatError
from parlink.kb import KnowledgeBase
from parlink.model_config import DESCRIPTION_CHARACTERS
from parlink.nn.similarity import TOKENS, Words
from parlink.text.tokenizer import Tokenizer
from parlink.train_config import TrainConfig


class Lead(msgspec.Struct, frozen=True):
    """A line of a file of leads."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Describer:
    """Finds what is said of titles; some of it is left out, so that a model learns to do without."""

    tokenizer: Tokenizer
    dropout: float
    kb: KnowledgeBase | None = None
    leads: dict[str, str] = field(default_factory=dict)
    title_dropout: float = 0.0

    @classmethod
    def load(cls, config: TrainConfig, tokenizer: Tokenizer) -> Describer | None:
        """Open where the descriptions of a run come from; None for a model that reads none."""
        if not config.similarity:
            return None
        kb = None if config.kb is None else KnowledgeBase.open(config.kb)
        leads = {} if config.description_file is None else read_leads(config.description_file)
        return cls(tokenizer, config.description_dropout, kb, leads, config.title_dropout)

    def entities(self, names: Sequence[Sequence[str | None]], rng: random.Random) -> tuple[Words, Words]:
        """The words of the titles of all names of all mentions, and of their descriptions; None is NIL, of no words.

        A title is left out, now and then, only where something else is said of the entity.
        """
        said = [tokens for choice in names for tokens in self.describe(choice, rng)]
        titles = [title for choice in names for title in choice]
        words = [self._title(title, known, rng) for title, known in zip(titles, said, strict=True)]
        return Words.build(words), Words.build(said)

    def _title(self, title: str | None, said: Sequence[int], rng: random.Random) -> tuple[int, ...]:
        if not title or (said and rng.random() < self.title_dropout):
            return ()
        return self.tokenizer.title(title)

    def describe(self, titles: Sequence[str | None], rng: random.Random) -> list[tuple[int, ...]]:
        """The tokens of what is said of the names of a mention, empty where there is nothing; None is NIL.

        All descriptions of a mention are left out at once, and of the others each alone, with the same probability.
        """
        if rng.random() < self.dropout:
            return [()] * len(titles)
        return [() if title is None or rng.random() < self.dropout else self._tokens(title, rng) for title in titles]

    def _tokens(self, title: str, rng: random.Random) -> tuple[int, ...]:
        entity = None if self.kb is None else self.kb.entity(title)
        texts = [entity.description if entity is not None else None, self.leads.get(title)]
        known = [text for text in texts if text]
        return self.tokenizer.title(rng.choice(known)[:DESCRIPTION_CHARACTERS])[:TOKENS] if known else ()


def read_leads(path: Path | str) -> dict[str, str]:
    """Read the beginnings of texts about titles: JSON lines with `title` and `text`."""
    leads = {}
    for number, line in files.lines(path):
        try:
            lead = msgspec.json.decode(line, type=Lead)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            message = f"{error}; each line must be an object with a title and a text"
            raise DataFormatError(message, path=path, line=number) from error
        leads[lead.title] = lead.text[:DESCRIPTION_CHARACTERS]
    return leads
