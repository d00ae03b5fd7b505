"""The errors of a report as values for its page: filters by kind, and each error in its text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from parlink.evaluation.counting import entity
from parlink.evaluation.errors import ErrorKind, LinkError
from parlink.evaluation.scoring import Report
from parlink.pages.link_card import LinkCard, make_card
from parlink.types import Candidate, Document, Link

_CONTEXT = 160  # characters on each side
_CANDIDATES = 10


@dataclass(frozen=True, slots=True)
class KindCount:
    """A kind of error and how often it occurs; `share` is that of the most frequent kind."""

    kind: ErrorKind
    count: int
    share: float


@dataclass(frozen=True, slots=True)
class ErrorGroup:
    """Kinds of errors that belong together."""

    name: str
    kinds: tuple[KindCount, ...]

    @property
    def count(self) -> int:
        """Return how many errors are of these kinds."""
        return sum(kind.count for kind in self.kinds)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a text; `gold` names the entity of a gold mention."""

    text: str
    gold: str | None = None


@dataclass(frozen=True, slots=True)
class ErrorView:
    """An error as it is shown: where it is, the text around it, what gold and the prediction say."""

    kind: ErrorKind
    place: str
    before: tuple[Stretch, ...]
    surface: str
    after: tuple[Stretch, ...]
    gold: str | None
    said: str | None
    confidence: float | None
    beside: tuple[tuple[str, str, str], ...]  # whose, surface, entity
    card: LinkCard | None  # why the prediction was made, against the gold entity
    candidates: tuple[Candidate, ...]  # the first ones, and the gold one wherever it stands
    candidate_count: int


def count_kinds(report: Report) -> list[ErrorGroup]:
    """Count the errors of each kind, by group."""
    counts = Counter(error.kind for error in report.errors)
    most = max(counts.values(), default=1)
    groups = dict.fromkeys(kind.group for kind in ErrorKind)
    return [
        ErrorGroup(group, tuple(KindCount(k, counts[k], counts[k] / most) for k in ErrorKind if k.group == group))
        for group in groups
    ]


def view_errors(report: Report) -> Iterator[ErrorView]:
    """Yield what is shown of each error."""
    return (_view(error, report.documents[error.document]) for error in report.errors)


def _view(error: LinkError, doc: Document) -> ErrorView:
    wanted = entity(error.gold) if error.gold is not None else None
    predicted = error.predicted
    before, after = _surroundings(error, doc)
    return ErrorView(
        error.kind,
        place=f"{doc.id or f'document {error.document + 1}'}, {error.span.start}-{error.span.end}",
        before=before,
        surface=doc.text[error.span.start : error.span.end],
        after=after,
        gold="no entity" if error.kind is ErrorKind.FALSE_ON_GOLD_NIL else wanted,
        said=None if predicted is None else _name(predicted),
        confidence=None if predicted is None else predicted.confidence,
        beside=tuple(_beside(error, doc)),
        card=None if predicted is None else make_card(predicted, rival=wanted),
        candidates=() if predicted is None else _first(predicted.candidates, wanted),
        candidate_count=0 if predicted is None else len(predicted.candidates),
    )


def _beside(error: LinkError, doc: Document) -> Iterator[tuple[str, str, str]]:
    whose = "predicted" if error.gold is not None else "gold"
    for link in error.beside:
        if link.span != error.span:
            yield whose, doc.text[link.span.start : link.span.end], _name(link)


def _name(link: Link) -> str:
    why = f" ({link.reason.replace('_', ' ')})" if link.reason else ""
    return entity(link) or f"no entity{why}"


def _first(candidates: Sequence[Candidate], wanted: str | None) -> tuple[Candidate, ...]:
    return (*candidates[:_CANDIDATES], *(c for c in candidates[_CANDIDATES:] if c.title == wanted))


def _surroundings(error: LinkError, doc: Document) -> tuple[tuple[Stretch, ...], tuple[Stretch, ...]]:
    """Return the text before and after an error, cut at words, with the gold mentions in it."""
    text, span = doc.text, error.span
    start, end = _word_start(text, span.start - _CONTEXT), _word_end(text, span.end + _CONTEXT)
    before = [Stretch("… ")] if start else []
    after = [Stretch(" …")] if end < len(text) else []
    before += _cut(text, start, span.start, doc.links)
    return tuple(before), (*_cut(text, span.end, end, doc.links), *after)


def _cut(text: str, start: int, end: int, links: Sequence[Link]) -> list[Stretch]:
    stretches, at = [], start
    for link in sorted(links, key=lambda link: link.span):
        if at <= link.span.start and link.span.end <= end:
            mention = Stretch(text[link.span.start : link.span.end], gold=_name(link))
            stretches += [Stretch(text[at : link.span.start]), mention]
            at = link.span.end
    return [*stretches, Stretch(text[at:end])]


def _word_start(text: str, at: int) -> int:
    return 0 if at <= 0 else text.find(" ", at, at + 30) + 1 or at


def _word_end(text: str, at: int) -> int:
    return len(text) if at >= len(text) else max(text.rfind(" ", at - 30, at), 0) or at
