"""Training documents as windows of tokens with their gold mentions; what cannot be used is counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from parlink.kb import KnowledgeBase
from parlink.text.letter_case import letter_cases
from parlink.text.tokenizer import Tokenizer, Tokens
from parlink.text.windows import Window, covering_range, token_range, windows
from parlink.train_config import Dataset, TrainConfig
from parlink.types import Document, Link

UNKNOWN_STARTS = "deleted_link_starts"  # of a document: characters, as `parlink.data.wikipedia.schools` gives them


@dataclass(frozen=True, slots=True)
class GoldMention:
    """A mention in a window; title None is NIL."""

    first: int  # token of the window, inclusive
    last: int  # inclusive
    title: str | None
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A window and what is known of it."""

    window: Window
    mentions: tuple[GoldMention, ...]
    document: str = ""  # id, to name it in an error
    detection: float = 1.0  # weight of the start loss
    unlinked: float = 1.0  # further weight of tokens at which no mention starts
    unlinked_names: float = 1.0  # the same of those at which a word was written with a capital
    capitals: tuple[int, ...] = ()  # the tokens at which such a word starts
    unknown: tuple[int, ...] = ()  # tokens at which a mention starts of which nothing else is known


@dataclass(frozen=True, slots=True)
class DatasetStats:
    """What a dataset holds, and what of it is not as it should be."""

    sizes: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)

    @property
    def mentions(self) -> int:
        """How many mentions there are, NIL ones too."""
        return self.sizes["linked mentions"] + self.sizes["NIL mentions"]


@dataclass(frozen=True, slots=True)
class ExampleBuilder:
    """How documents are cut into examples, and where candidates come from that the data lacks."""

    config: TrainConfig
    tokenizer: Tokenizer
    kb: KnowledgeBase | None

    def examples(
        self, doc: Document, *, dataset: Dataset, stats: DatasetStats, spelled: str | None = None
    ) -> list[Example]:
        """The windows of a document with the mentions that each of them judges.

        `spelled` is its text before cases were changed, which tells what may be a name.
        """
        tokens = self.tokenizer.encode(doc.text)
        stats.sizes.update({"documents": 1, "tokens": len(tokens.ids)})
        known, unknown = [], _starts(tokens, doc.extra.get(UNKNOWN_STARTS))
        capitals = _capitals(tokens, doc.text if spelled is None else spelled)
        unlinked_names = dataset.unlinked if dataset.unlinked_names is None else dataset.unlinked_names
        for link in doc.links:
            stats.sizes["NIL mentions" if link.title is None else "linked mentions"] += 1
            if link.title is None and not self.config.nil:
                continue
            place = self._place(tokens, link, stats)
            if place is not None:
                known.append((place, link.title, self._titles(doc, link, stats)))
            elif (covered := covering_range(tokens, link.span)) is not None:
                unknown.append(covered[0])  # a mention starts there, though it cannot be learned
        result = []
        for window in windows(
            tokens,
            tokenizer=self.tokenizer,
            max_tokens=self.config.train_tokens,
            overlap=2 * self.config.max_mention_tokens,
            prefix=self.config.global_tokens,
            case=letter_cases(doc.text, tokens.start) if self.config.letter_case else None,
        ):
            shift = 1 - window.offset
            mentions = tuple(
                GoldMention(first + shift, last + shift, title, candidates)
                for (first, last), title, candidates in known
                if window.own_first <= first < window.own_last
            )
            result.append(
                Example(
                    window,
                    mentions,
                    doc.id,
                    detection=dataset.detection,
                    unlinked=dataset.unlinked,
                    unlinked_names=unlinked_names,
                    capitals=_shifted(capitals, window, shift),
                    unknown=_shifted(unknown, window, shift),
                )
            )
        stats.sizes["windows"] += len(result)
        return result

    def _place(self, tokens: Tokens, link: Link, stats: DatasetStats) -> tuple[int, int] | None:
        """Where a link lies in tokens; None, and counted, if it cannot be learned from."""
        place, limit = token_range(tokens, link.span), self.config.max_mention_tokens
        if place is None:
            stats.problems["mentions off token boundaries, skipped"] += 1
        elif place[1] - place[0] >= limit:
            stats.problems[f"mentions over max_mention_tokens = {limit}, skipped"] += 1
            return None
        return place

    def _titles(self, doc: Document, link: Link, stats: DatasetStats) -> tuple[str, ...]:
        """The candidates of a link, from the data or else from the knowledge base."""
        titles = tuple(dict.fromkeys(candidate.title for candidate in link.candidates))
        if not titles and self.kb is not None:
            titles = tuple(c.title for c in self.kb.candidates(doc.text[link.span.start : link.span.end]))
        if link.title is None:
            return titles
        if self.kb is not None and link.title not in self.kb:
            stats.problems["titles that are not in the knowledge base"] += 1
        if not titles:
            stats.problems["linked mentions without candidates"] += 1
        elif link.title not in titles:
            stats.problems["linked mentions whose title is not among the candidates"] += 1
        elif len(titles) == 1:
            stats.problems["linked mentions with no other candidate than their title"] += 1
        return titles


def _shifted(places: list[int], window: Window, shift: int) -> tuple[int, ...]:
    """The places that a window judges, counted from its beginning."""
    return tuple(place + shift for place in places if window.own_first <= place < window.own_last)


def _capitals(tokens: Tokens, text: str) -> list[int]:
    """The tokens at which a word with a capital begins."""
    return [
        place
        for place, start in enumerate(tokens.start.tolist())
        if text[start : start + 1].isupper() and not (start and text[start - 1].isalnum())
    ]


def _starts(tokens: Tokens, characters: object) -> list[int]:
    """The tokens that begin at these characters."""
    if not isinstance(characters, list):
        return []
    wanted = {character for character in characters if isinstance(character, int)}
    return [place for place, start in enumerate(tokens.start.tolist()) if start in wanted]
