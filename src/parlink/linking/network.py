"""What linking asks of a network, whichever library computes it: arrays of numpy in and out, and no torch.

A network encodes windows of text; what it has encoded tells where mentions are; what it knows of mentions scores names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from parlink.model_config import DESCRIPTION_CHARACTERS, ModelConfig
from parlink.text.windows import Window
from parlink.types import Entity

if TYPE_CHECKING:  # torch, which it needs, takes a second to import
    from parlink.kb.title_trees import TitleTree

Integers = NDArray[np.int64]
Floats = NDArray[np.float32]
Names = Sequence[Sequence[Sequence[int]]]  # the token ids of each name of each mention
Describe = Callable[[str], Entity | None]  # what is known of a title
Say = Callable[[str], str | None]  # what is said of it: its description


@dataclass(frozen=True, slots=True)
class TokenSpans:
    """Spans of tokens in the windows of a batch."""

    row: Integers  # (spans,) which window
    first: Integers  # (spans,) first token, counted in the window
    last: Integers  # (spans,) last token, inclusive

    @classmethod
    def of(cls, rows: Sequence[tuple[int, int, int]]) -> TokenSpans:
        """Make spans of (row, first, last)."""
        row, first, last = np.array(rows, np.int64).reshape(-1, 3).T
        return cls(row, first, last)

    @classmethod
    def cat(cls, parts: Sequence[TokenSpans]) -> TokenSpans:
        """Join spans of the same batch."""
        return cls(*(np.concatenate([getattr(part, field) for part in parts]) for field in cls.__slots__))


@dataclass(frozen=True, slots=True)
class JudgedSpans:
    """Spans, and how sure the detector is of them."""

    spans: TokenSpans
    start_logit: Floats  # (spans,)
    probability: Floats  # (spans,) p(start) p(end | start)


@dataclass(frozen=True, slots=True)
class ScoredNames:
    """Names of mentions, in any order, with the two parts of the score that a network gives them."""

    mention: Integers  # (names,) whose name it is
    name: Integers  # (names,) its number among those given, or in a tree
    lm: Floats  # (names,) mean log-likelihood, </s> included
    classifier: Floats  # (names,) raw logit of the discriminative correction


class KnownMentions(Protocol):
    """What a network knows of some mentions."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: list[int]) -> KnownMentions: ...

    def score(self, names: Names) -> ScoredNames:
        """Score every name of every mention, in the order given; names are numbered through all mentions."""
        ...

    def generate(self, names: Names, *, beams: int) -> ScoredNames:
        """Score the names that a beam search finds among those of each mention; numbered as by `score`."""
        ...

    def search(self, titles: TitleTree, *, beams: int) -> ScoredNames:
        """Score the titles that a beam search finds for each mention."""
        ...

    def compare(
        self, mention: Integers, titles: Sequence[str], say: Say, *, read: bool = False
    ) -> tuple[Floats, Floats]:
        """Similarity and overlap of each of some mentions and the title beside it, (titles,), by a bi-encoder.

        With `read`, the encoder reads what is said of each entity too, if the model has learned to compare that.
        """
        ...


class Encoding(Protocol):
    """Windows that a network has read."""

    def detect(self, *, threshold: float) -> JudgedSpans:
        """Find the starts above a threshold in the windows that are to be searched, each with its most probable end."""
        ...

    def judge(self, spans: TokenSpans) -> JudgedSpans:
        """Say how sure the detector is of spans that others propose; one longer than any mention is impossible."""
        ...

    def mentions(self, spans: TokenSpans) -> KnownMentions:
        """Tell what is known of the mentions at these spans."""
        ...


class Network(Protocol):
    """A model that finds mentions and scores names."""

    @property
    def config(self) -> ModelConfig:
        """What it is made of."""
        ...

    @property
    def device(self) -> str:
        """Where it computes."""
        ...

    @property
    def precision(self) -> str:
        """What it computes in."""
        ...

    def encode(self, windows: Sequence[Window], *, searched: Sequence[bool]) -> Encoding:
        """Read windows of text; mentions are detected in those that are `searched`."""
        ...

    def forget(self) -> None:
        """Forget what was read of entities: in another batch it is rounded in another way."""
        ...


def entity_texts(title: str, say: Say) -> tuple[str, str]:
    """What a bi-encoder reads of an entity: its title and what is said of it; of NIL, nothing."""
    said = say(title) if title else None
    return title[:DESCRIPTION_CHARACTERS], (said or "")[:DESCRIPTION_CHARACTERS]
