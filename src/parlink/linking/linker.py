"""Linker: text in, links out; one document, or a stream of them in constant memory."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import msgspec
import torch

from parlink.checkpoint.folder import Checkpoint, load_checkpoint, own_kb, packaged_model
from parlink.config import LinkOptions, Tuned
from parlink.errors import ParlinkError
from parlink.kb import KnowledgeBase
from parlink.kb.title_trees import TitleTree, small_tree
from parlink.linking.mentions import Mention, Prepared, find_mentions, prepare
from parlink.linking.overlaps import resolve_overlaps
from parlink.linking.scoring import Ranked, Ranker
from parlink.nn.decoder import MentionStates
from parlink.types import Candidate, Document, Link, Span

DEFAULT = LinkOptions()
Progress = Callable[[float], None]  # told which share of the work is done


class CandidateSource(Protocol):
    """Whatever knows which entities a surface form may refer to: a knowledge base, a table."""

    def candidates(self, surface: str, *, limit: int) -> Sequence[Candidate]:
        """Return at most `limit` candidates, the most probable first."""
        ...


class Linker:
    """A model, the knowledge base it links to, and where candidates come from; may be used from several threads."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        *,
        kb: KnowledgeBase | None = None,
        source: CandidateSource | None = None,
        device: str = "cpu",
    ) -> None:
        self.model = checkpoint.model.to(device).eval()
        self.tokenizer, self.tuned = checkpoint.tokenizer, checkpoint.tuned
        self.kb, self.source, self.device = kb, source, device

    @classmethod
    def load(
        cls,
        path: Path | str | None = None,
        *,
        kb: KnowledgeBase | Path | str | None = None,
        source: CandidateSource | None = None,
        device: str = "cpu",
    ) -> Linker:
        """Open a model folder, or the model that comes with the package.

        Candidates come from `source`, else from the knowledge base: the one given, or the model's own `kb/`.
        """
        folder = packaged_model() if path is None else Path(path)
        kb = own_kb(folder) if kb is None else kb
        opened = KnowledgeBase.open(kb) if isinstance(kb, Path | str) else kb
        return cls(load_checkpoint(folder), kb=opened, source=source or opened, device=device)

    def with_candidates(self, source: CandidateSource | None) -> Linker:
        """The same model and knowledge base, with candidates from somewhere else, or from nowhere."""
        checkpoint = Checkpoint(self.model, self.tokenizer, self.tuned)
        return Linker(checkpoint, kb=self.kb, source=source, device=self.device)

    def link(
        self, document: str | Document, *, options: LinkOptions = DEFAULT, progress: Progress | None = None
    ) -> Document:
        """Link one document; raises if it cannot be linked."""
        doc = Document(document) if isinstance(document, str) else document
        prepared = prepare(doc, model=self.model, tokenizer=self.tokenizer)
        return self._link([prepared], options, batch_tokens=self.model.config.max_tokens, progress=progress)[0]

    def stream(
        self, documents: Iterable[Document], *, options: LinkOptions = DEFAULT, batch_tokens: int = 8192
    ) -> Iterator[Document]:
        """Link documents in their order, in constant memory; a failed one comes back in its place with `error` set."""
        pool: list[Prepared | Document] = []
        waiting = 0
        for doc in documents:
            try:
                pool.append(prepared := prepare(doc, model=self.model, tokenizer=self.tokenizer))
                waiting += 1 + len(prepared.tokens.ids)
            except ParlinkError as error:
                pool.append(_failed(doc, error))
                waiting += 1
            if waiting >= 4 * batch_tokens:  # several batches, so that windows of like length come together
                yield from self._link_pool(pool, options, batch_tokens)
                pool, waiting = [], 0
        yield from self._link_pool(pool, options, batch_tokens)

    def _link_pool(
        self, pool: Sequence[Prepared | Document], options: LinkOptions, batch_tokens: int
    ) -> Iterator[Document]:
        prepared = [item for item in pool if isinstance(item, Prepared)]
        try:
            linked = iter(self._link(prepared, options, batch_tokens=batch_tokens))
        except ParlinkError as error:
            if len(pool) > 1:  # one of them is at fault
                for item in pool:
                    yield from self._link_pool([item], options, batch_tokens)
                return
            linked = iter([_failed(one.doc, error) for one in prepared])
        for item in pool:
            yield next(linked) if isinstance(item, Prepared) else item

    @torch.inference_mode()
    def _link(
        self, pool: Sequence[Prepared], options: LinkOptions, *, batch_tokens: int, progress: Progress | None = None
    ) -> list[Document]:
        settings = _Settings.of(options, self.tuned)
        links: list[list[Link]] = [[] for _ in pool]
        given = [_given_candidates(one.doc) for one in pool]
        done, whole = 0, sum(len(one.windows) for one in pool)
        for found in find_mentions(
            self.model,
            pool,
            threshold=settings.tuned.mention_threshold,
            batch_tokens=batch_tokens,
            pad_id=self.tokenizer.pad_id,
        ):
            choices = [self._choices(pool[m.document].doc, m.span, given[m.document], settings) for m in found.mentions]
            for mention, ranked in zip(found.mentions, self._ranked(found.states, choices, settings), strict=True):
                links[mention.document].append(_decided(mention, ranked, settings))
            done += found.windows
            if progress is not None:
                progress(done / whole)
        name = None if self.kb is None else self.kb.name
        return [_finished(one.doc, own, options, kb=name) for one, own in zip(pool, links, strict=True)]

    def _choices(
        self, doc: Document, span: Span, given: Mapping[Span, Sequence[Candidate]], settings: _Settings
    ) -> Sequence[Candidate]:
        """The candidates given in the document for this very span, else those of the source."""
        found, most = given.get(span), settings.options.max_candidates
        if found is None:
            surface = doc.text[span.start : span.end]
            limit = most if settings.titles is None else sys.maxsize
            found = () if self.source is None else tuple(self.source.candidates(surface, limit=limit))
        allowed = found if settings.titles is None else tuple(c for c in found if c.title in settings.titles)
        return allowed[:most]

    def _ranked(self, states: MentionStates, choices: Sequence[Sequence[Candidate]], settings: _Settings) -> Ranked:
        """Score what each mention may refer to; a mention without candidates gets those of the whole KB, or none."""
        ranker = Ranker(self.model, self.tokenizer, settings.tuned.weights)
        ranked: Ranked = [[] for _ in choices]
        some = [i for i, own in enumerate(choices) if own]
        rest = [i for i, own in enumerate(choices) if not own]
        options = settings.options
        if some:
            known, own = states[_index(some, states)], [choices[i] for i in some]
            beam = options.search == "beam"
            found = ranker.beam(known, own, beams=options.beams) if beam else ranker.rank(known, own)
            for i, candidates in zip(some, found, strict=True):
                ranked[i] = candidates
        if rest and settings.tuned.fallback:
            known, limit = states[_index(rest, states)], options.max_candidates
            found = ranker.search(known, self._trees(options), self._described, beams=options.beams, limit=limit)
            for i, candidates in zip(rest, found, strict=True):
                ranked[i] = candidates
        return ranked

    def _trees(self, options: LinkOptions) -> Sequence[TitleTree]:
        if options.titles is not None:
            return (small_tree(options.titles, self.tokenizer),)
        if self.kb is None:
            raise ParlinkError("a search over all titles needs a knowledge base; give one to Linker.load(kb=...)")
        return self.kb.trees(self.tokenizer)

    def _described(self, title: str) -> Candidate:
        entity = None if self.kb is None else self.kb.entity(title)
        if entity is None:
            return Candidate(title, match_type="search")
        return Candidate(title, id=entity.id, url=entity.url, match_type="search")


@dataclass(frozen=True, slots=True)
class _Settings:
    """Options, and the tuned values with what the options replace in them."""

    options: LinkOptions
    tuned: Tuned
    titles: frozenset[str] | None  # the only ones to link to

    @classmethod
    def of(cls, options: LinkOptions, tuned: Tuned) -> _Settings:
        names = ("mention_threshold", "score_threshold", "weights", "fallback")
        given = {name: value for name in names if (value := getattr(options, name)) is not None}
        fits = options.weights in (None, tuned.weights)  # else the regression was fitted to other totals
        chosen = msgspec.structs.replace(tuned, **given, confidence=tuned.confidence if fits else None)
        return cls(options, chosen, None if options.titles is None else frozenset(options.titles))


def _given_candidates(doc: Document) -> dict[Span, tuple[Candidate, ...]]:
    """The candidates that a document brings along; the first of several links of a span counts."""
    return {link.span: link.candidates for link in reversed(doc.links) if link.candidates}


def _failed(doc: Document, error: ParlinkError) -> Document:
    return replace(doc, links=(), error=str(error))


def _index(numbers: Sequence[int], states: MentionStates) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.long, device=states.vector.device)


def _decided(mention: Mention, ranked: list[Candidate], settings: _Settings) -> Link:
    """Turn ranked candidates into a link, or into NIL with a reason."""
    link = Link(mention.span, mention_logit=mention.detection, mention_probability=mention.probability)
    if not ranked:
        return replace(link, reason="no_candidate")
    best, named = ranked[0], tuple(c for c in ranked if c.title)
    link = replace(link, candidates=named, confidence=_confidence(mention, ranked, settings))
    if not best.title:
        return replace(link, reason="nil")
    least = settings.tuned.score_threshold
    if least is not None and (best.score or 0.0) < least:
        return replace(link, reason="below_threshold")
    if (link.confidence or 0.0) < settings.options.min_confidence:
        return replace(link, reason="below_confidence")
    return replace(link, title=best.title, id=best.id, url=best.url)


def _confidence(mention: Mention, ranked: list[Candidate], settings: _Settings) -> float:
    """The probability that the best candidate is right; without a fitted regression, the model's own."""
    scores = [c.score or 0.0 for c in ranked]
    if settings.tuned.confidence is None:
        share = 1 / sum(math.exp(score - scores[0]) for score in scores)
        return share if mention.probability is None else share * mention.probability
    rivals = [c.score or 0.0 for c in ranked[1:] if c.title]  # not NIL, which no candidate list shows to the fit
    return settings.tuned.confidence.probability(
        mention_logit=mention.detection,
        total=scores[0],
        margin=scores[0] - rivals[0] if rivals else None,
        prior=ranked[0].prior,
    )


def _finished(doc: Document, links: list[Link], options: LinkOptions, *, kb: str | None) -> Document:
    """The document with its links: detected ones disjoint, in text order; given ones all, as they were given."""
    doc, links = replace(doc, kb=kb, error=None), sorted(links, key=lambda link: link.span)
    if doc.spans is not None:
        known = {span: Link(span, reason="no_token") for span in doc.spans} | {link.span: link for link in links}
        return replace(doc, links=tuple(known[span] for span in doc.spans))
    if options.overlaps == "keep":
        return replace(doc, links=tuple(links))
    spans, probabilities = [link.span for link in links], [link.mention_probability or 0.0 for link in links]
    return replace(doc, links=tuple(resolve_overlaps(links, spans, probabilities)))
