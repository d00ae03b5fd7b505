"""From documents to mentions: tokenize, encode, detect; with what the decoder needs to know of each mention.

A mention is proposed by the detector, or it comes with the document, or it is a name of the knowledge base, or it
repeats one of the document. Whoever proposes spans of a text adds them to `TokenizedDocument.proposals`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from parlink.errors import TextError
from parlink.linking.network import Encoding, KnownMentions, Network, TokenSpans
from parlink.model_config import ModelConfig
from parlink.text.letter_case import letter_cases
from parlink.text.tokenizer import Tokenizer, Tokens
from parlink.text.windows import (
    Window,
    before_stray_marks,
    by_length,
    covering_range,
    covering_ranges,
    mention_span,
    windows,
)
from parlink.types import Document, Span

Source = Literal["detector", "dictionary", "document", "given"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A span that is looked at whatever the detector says, and the tokens that it touches."""

    span: Span
    first: int  # index in Tokens
    last: int  # index in Tokens, inclusive
    source: Source


@dataclass(frozen=True, slots=True)
class TokenizedDocument:
    """A document cut into windows."""

    doc: Document
    tokens: Tokens
    windows: list[Window]
    proposals: list[list[Proposal]]  # by the window that owns their first token

    @property
    def is_detected(self) -> bool:
        """Whether the detector proposes mentions too; it does not where spans are given."""
        return self.doc.spans is None


@dataclass(frozen=True, slots=True)
class Place:
    """A window: that of the document with this index, among those that are linked together."""

    document: int
    window: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of a document that is to be linked."""

    document: int  # as in Place
    span: Span
    source: Source
    logit: float | None = None  # log-odds of the start; None: the detector was not asked
    probability: float | None = None  # p(start) p(end | start)
    is_name: bool = False  # of the knowledge base, as the dictionary finds it


def surfaces_of(docs: Sequence[Document], mentions: Sequence[Mention]) -> list[str]:
    """Return the text of each mention."""
    return [docs[m.document].text[m.span.start : m.span.end] for m in mentions]


@dataclass(frozen=True, slots=True)
class FoundMentions:
    """Windows that the network has read, and the mentions there."""

    places: Sequence[Place]
    encoding: Encoding
    mentions: list[Mention]
    tokens: TokenSpans  # of each mention

    @property
    def known(self) -> KnownMentions:
        """What the network knows of each mention."""
        return self.encoding.mentions(self.tokens)


def tokenize(doc: Document, *, tokenizer: Tokenizer, config: ModelConfig) -> TokenizedDocument:
    """Tokenize a document and cut it into windows, the given spans among them; raises if that cannot be."""
    check_document(doc)
    tokens = tokenizer.encode(doc.text)
    cut = windows(
        tokens,
        tokenizer=tokenizer,
        max_tokens=config.max_tokens,
        overlap=config.overlap,
        prefix=config.global_tokens,
        case=letter_cases(doc.text, tokens.start) if config.letter_case else None,
    )
    text = TokenizedDocument(doc, tokens, cut, [[] for _ in cut])
    return propose(text, doc.spans or (), source="given")


def propose_only(text: TokenizedDocument, spans: Sequence[Span], *, source: Source) -> TokenizedDocument:
    """Take these spans for what is proposed in a text, in place of what was."""
    return propose(replace(text, proposals=[[] for _ in text.windows]), spans, source=source)


def propose(text: TokenizedDocument, spans: Sequence[Span], *, source: Source) -> TokenizedDocument:
    """Add spans to what is proposed in a text; those without a token of their own are left out."""
    first, last = covering_ranges(text.tokens, spans)
    owner = np.searchsorted([window.own_first for window in text.windows], first, side="right") - 1
    proposals = [list(proposals) for proposals in text.proposals]
    for span, window, begin, end in zip(spans, owner.tolist(), first.tolist(), last.tolist(), strict=True):
        if begin <= end:
            proposals[window].append(Proposal(span, begin, end, source))
    return replace(text, proposals=proposals)


def batch_windows(texts: Sequence[TokenizedDocument], *, batch_tokens: int) -> Iterator[list[Place]]:
    """Group the windows of all documents by length, the longest first."""
    places = [Place(document, window) for document, text in enumerate(texts) for window in range(len(text.windows))]
    lengths = [len(texts[place.document].windows[place.window].ids) for place in places]
    for group in by_length(lengths, batch_tokens=batch_tokens):
        yield [places[index] for index in group]


def find_mentions(
    network: Network, texts: Sequence[TokenizedDocument], places: Sequence[Place], *, threshold: float
) -> FoundMentions:
    """Let the network read some windows and detect mentions there, and add those that are proposed."""
    encoding = network.encode(
        [texts[place.document].windows[place.window] for place in places],
        searched=[texts[place.document].is_detected for place in places],
    )
    mentions, detected = _detect(encoding, texts, places, threshold)
    return add_proposals(FoundMentions(places, encoding, mentions, detected), texts)


def add_proposals(found: FoundMentions, texts: Sequence[TokenizedDocument]) -> FoundMentions:
    """Add the mentions that are proposed in the texts; what was found already may turn out to be a name."""
    names = {(place.document, proposal.span) for place in found.places for proposal in _names(texts, place)}
    mentions = [replace(m, is_name=True) if (m.document, m.span) in names else m for m in found.mentions]
    proposed, at = _find_proposals(texts, found.places, {(m.document, m.span) for m in mentions})
    if not proposed:
        return replace(found, mentions=mentions)
    mentions += _judge(found.encoding, proposed, at)
    return replace(found, mentions=mentions, tokens=TokenSpans.cat([found.tokens, at]))


def likely_starts(texts: Sequence[TokenizedDocument], batches: Sequence[FoundMentions]) -> list[set[int]]:
    """The characters of the tokens at which the detector sees a mention start, by document."""
    starts: list[set[int]] = [set() for _ in texts]
    for found in batches:
        for mention, row, first in zip(
            found.mentions, found.tokens.row.tolist(), found.tokens.first.tolist(), strict=True
        ):
            if mention.source == "detector":
                place = found.places[row]
                text = texts[place.document]
                token = first + text.windows[place.window].offset - 1
                starts[place.document].update(range(text.tokens.start[token], text.tokens.end[token]))
    return starts


def check_document(doc: Document) -> None:
    """Refuse a document that cannot be linked as it is."""
    for span in doc.spans or ():
        if not isinstance(span, Span):
            raise TextError(f"the spans of a document must be Span(start, end), got {span!r:.60}")
        if span.end > len(doc.text):
            got = f"the span [{span.start}, {span.end}) of a text of {len(doc.text)} characters"
            raise TextError(f"{got}; spans must lie inside the text, counted in Unicode code points")


def _detect(
    encoding: Encoding, texts: Sequence[TokenizedDocument], places: Sequence[Place], threshold: float
) -> tuple[list[Mention], TokenSpans]:
    """The mentions that the detector finds, but for those where nothing is to be read, and their tokens."""
    detection = encoding.detect(threshold=threshold)
    at = detection.spans
    columns = (at.row, at.first, at.last, detection.start_logit, detection.probability)
    mentions, rows = [], []
    for row, first, last, logit, probability in zip(*(column.tolist() for column in columns), strict=True):
        found = _characters(texts, places[row], first, last)
        if found is not None:
            span, last = found
            mentions.append(Mention(places[row].document, span, "detector", logit, probability))
            rows.append((row, first, last))
    return mentions, TokenSpans.of(rows)


def _characters(texts: Sequence[TokenizedDocument], place: Place, first: int, last: int) -> tuple[Span, int] | None:
    """The characters of tokens that are counted from the beginning of a window, and the last that has some of them."""
    text = texts[place.document]
    shift = text.windows[place.window].offset - 1
    span = mention_span(text.doc.text, text.tokens, first + shift, last + shift)
    if span is None:
        return None  # nothing is to be read
    shorter = before_stray_marks(text.doc.text, span)
    covered = None if shorter == span else covering_range(text.tokens, shorter)
    return shorter, last if covered is None else covered[1] - shift


def _names(texts: Sequence[TokenizedDocument], place: Place) -> Iterator[Proposal]:
    """The names of the knowledge base in a window."""
    proposals = texts[place.document].proposals[place.window]
    return (proposal for proposal in proposals if proposal.source == "dictionary")


def _find_proposals(
    texts: Sequence[TokenizedDocument], places: Sequence[Place], detected: Collection[tuple[int, Span]]
) -> tuple[list[Mention], TokenSpans]:
    """The proposals in some windows that are not detected anyway, and their tokens there.

    One longer than its window is cut at the window's end.
    """
    mentions: list[Mention] = []
    rows: list[tuple[int, int, int]] = []
    for row, place in enumerate(places):
        text = texts[place.document]
        window = text.windows[place.window]
        for proposal in text.proposals[place.window]:
            if (place.document, proposal.span) in detected:
                continue
            first, last = (token - window.offset + 1 for token in (proposal.first, proposal.last))
            rows.append((row, first, min(last, len(window.ids) - 2)))
            named = proposal.source == "dictionary"
            mentions.append(Mention(place.document, proposal.span, proposal.source, is_name=named))
    return mentions, TokenSpans.of(rows)


def _judge(encoding: Encoding, proposed: list[Mention], at: TokenSpans) -> list[Mention]:
    """Ask the detector about proposed mentions; those that come with the document are beyond doubt."""
    if all(mention.source == "given" for mention in proposed):
        return proposed
    judged = encoding.judge(at)
    columns = judged.start_logit.tolist(), judged.probability.tolist()
    return [
        mention if mention.source == "given" else replace(mention, logit=logit, probability=probability)
        for mention, logit, probability in zip(proposed, *columns, strict=True)
    ]
