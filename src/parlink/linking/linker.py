"""Linker: text in, links out; one document, or a stream of them in constant memory.

`Linker._link` is the way of a document: tokenize, encode, find mentions, look up, score, decide, resolve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

import torch

from parlink.checkpoint.folder import Checkpoint, load_checkpoint, own_kb, packaged_model
from parlink.config import LinkOptions, LinkSettings
from parlink.errors import ParlinkError
from parlink.kb import KnowledgeBase
from parlink.linking.candidates import CandidateSource, all_titles, look_up
from parlink.linking.decision import decide
from parlink.linking.document_names import add_longer_names
from parlink.linking.interrupt import check
from parlink.linking.mentions import FoundMentions, TokenizedDocument, batch_windows, encode, find_mentions, tokenize
from parlink.linking.overlaps import resolve
from parlink.linking.scoring import score
from parlink.types import Candidate, Document, Entity, Link

DEFAULT = LinkOptions()
T = TypeVar("T")
Progress = Callable[[float], None]  # told which share of the work is done


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
        texts = [self._tokenize(doc)]
        settings = options.resolve(self.tuned)
        return self._link(texts, settings, batch_tokens=self.model.config.max_tokens, progress=progress)[0]

    def stream(
        self, documents: Iterable[Document], *, options: LinkOptions = DEFAULT, batch_tokens: int = 8192
    ) -> Iterator[Document]:
        """Link documents in their order, in constant memory; a failed one comes back in its place with `error` set."""
        settings = options.resolve(self.tuned)
        pool: list[TokenizedDocument | Document] = []
        waiting = 0
        for doc in documents:
            try:
                pool.append(text := self._tokenize(doc))
                waiting += 1 + len(text.tokens.ids)
            except ParlinkError as error:
                pool.append(_fail(doc, error))
                waiting += 1
            if waiting >= 4 * batch_tokens:  # several batches, so that windows of like length come together
                yield from self._link_pool(pool, settings, batch_tokens)
                pool, waiting = [], 0
        yield from self._link_pool(pool, settings, batch_tokens)

    def _link_pool(
        self, pool: Sequence[TokenizedDocument | Document], settings: LinkSettings, batch_tokens: int
    ) -> Iterator[Document]:
        """Link what could be tokenized, together; if that fails, each alone, as one of them is at fault."""
        texts = [item for item in pool if isinstance(item, TokenizedDocument)]
        try:
            linked = iter(self._link(texts, settings, batch_tokens=batch_tokens))
        except ParlinkError as error:
            if len(pool) > 1:
                for item in pool:
                    yield from self._link_pool([item], settings, batch_tokens)
                return
            linked = iter([_fail(text.doc, error) for text in texts])
        for item in pool:
            yield next(linked) if isinstance(item, TokenizedDocument) else item

    def _tokenize(self, doc: Document) -> TokenizedDocument:
        return tokenize(doc, tokenizer=self.tokenizer, config=self.model.config)

    @torch.inference_mode()
    def _link(
        self,
        texts: Sequence[TokenizedDocument],
        settings: LinkSettings,
        *,
        batch_tokens: int,
        progress: Progress | None = None,
    ) -> list[Document]:
        """The way of documents from tokens to links, one function a step."""
        model, tokenizer, docs = self.model, self.tokenizer, [text.doc for text in texts]
        batches: list[FoundMentions] = []
        for places in _report(list(batch_windows(texts, batch_tokens=batch_tokens)), progress, (0.0, 0.5)):
            encoded = encode(model, texts, places, pad_id=tokenizer.pad_id)
            batches.append(find_mentions(model, texts, encoded, threshold=settings.mention_threshold))
        mentions = [mention for batch in batches for mention in batch.mentions]
        candidates = look_up(docs, mentions, self.source, settings)
        if settings.document_names:
            candidates = add_longer_names(docs, mentions, candidates, limit=settings.max_candidates)
        titles, remaining = partial(all_titles, self.kb, settings, tokenizer), iter(candidates)
        scored: list[list[Candidate]] = []
        for batch in _report(batches, progress, (0.5, 1.0)):
            choices = list(islice(remaining, len(batch.mentions)))
            scored += score(model, tokenizer, batch.states, choices, settings, titles=titles, describe=self._entity)
        links: list[list[Link]] = [[] for _ in docs]
        for mention, choice in zip(mentions, scored, strict=True):
            links[mention.document].append(decide(mention, choice, settings, describe=self._entity))
        name = None if self.kb is None else self.kb.name
        return [resolve(doc, decisions, settings, kb=name) for doc, decisions in zip(docs, links, strict=True)]

    def _entity(self, title: str) -> Entity | None:
        return None if self.kb is None else self.kb.entity(title)


def _fail(doc: Document, error: ParlinkError) -> Document:
    return replace(doc, links=(), error=str(error))


def _report(items: Sequence[T], progress: Progress | None, share: tuple[float, float]) -> Iterator[T]:
    """Yield items, and tell after each how far between the two shares of the work that is."""
    for done, item in enumerate(items, start=1):
        check()
        yield item
        if progress is not None:
            progress(share[0] + (share[1] - share[0]) * done / len(items))
