"""A real linker without a network: every capitalized word is a mention, and the likeliest candidate is its entity."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from parlink.config import LinkOptions
from parlink.linking.candidates import CandidateSource
from parlink.linking.overlaps import resolve_overlaps
from parlink.types import Candidate, Document, Link, Span


@dataclass(frozen=True)
class DictionaryLinker:
    """Words and pairs of words, detected the more surely the longer they are."""

    source: CandidateSource | None = None
    kb: CandidateSource | None = None

    def with_candidates(self, source: CandidateSource | None) -> DictionaryLinker:
        return DictionaryLinker(source, self.kb)

    def stream(self, documents: Iterable[Document], *, options: LinkOptions) -> Iterator[Document]:
        for doc in documents:
            if "\0" in doc.text:
                yield replace(doc, links=(), error="NUL in the text")
            else:
                yield replace(doc, links=tuple(self._links(doc, options)))

    def _links(self, doc: Document, options: LinkOptions) -> Sequence[Link]:
        if doc.spans is not None:
            return [self._decide(doc, Link(span), options) for span in doc.spans]
        threshold = 0.0 if options.mention_threshold is None else options.mention_threshold
        found = [
            self._decide(doc, Link(span, mention_logit=d, mention_probability=1 / (1 + math.exp(-d))), options)
            for span, d in _mentions(doc.text)
            if d > threshold
        ]
        if options.overlaps == "keep":
            return found
        return resolve_overlaps(
            found, [link.span for link in found], [link.mention_probability or 0.0 for link in found]
        )

    def _decide(self, doc: Document, link: Link, options: LinkOptions) -> Link:
        surface = doc.text[link.span.start : link.span.end]
        given = next((own.candidates for own in doc.links if own.span == link.span), ())
        choice = given or (self.source.candidates(surface, limit=options.max_candidates) if self.source else ())
        if not choice:
            return replace(link, reason="no_candidate")
        scored = [replace(one, lm=math.log(one.prior or 0.01), classifier=0.0) for one in choice]
        ranked = tuple(sorted((replace(one, score=one.lm) for one in scored), key=_by_score))
        if options.score_threshold is not None and (ranked[0].score or 0.0) < options.score_threshold:
            return replace(link, reason="below_threshold", candidates=ranked)
        return replace(link, title=ranked[0].title, confidence=ranked[0].prior, candidates=ranked)


def _mentions(text: str) -> Iterator[tuple[Span, float]]:
    for word in re.finditer(r"[A-Z]\w*(?: [A-Z]\w*)?", text):
        yield Span(*word.span()), len(word.group()) / 2 - 2
        if " " in word.group():
            yield Span(word.start(), word.start() + word.group().index(" ")), -1.0


def _by_score(candidate: Candidate) -> float:
    return -(candidate.score or 0.0)
