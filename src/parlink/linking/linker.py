"""Linker: text in, links out; one document, or a stream of them in constant memory.

`Linker._link` is the way of a document: tokenize, encode, find mentions, look up, score, decide, resolve.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from parlink.bars import is_prompt, share_bar, spinner
from parlink.checkpoint.config_file import own_kb, packaged_model
from parlink.checkpoint.hub import model_folder
from parlink.checkpoint.onnx_folder import OnnxCheckpoint, has_graphs, load_onnx
from parlink.config import LinkOptions, LinkSettings
from parlink.data import jsonl
from parlink.errors import ConfigError, ParlinkError, TextError
from parlink.kb import KnowledgeBase
from parlink.kb.dictionary import OWN_TITLES, Dictionary
from parlink.kb.remembered import RememberedView
from parlink.kb.view import View
from parlink.linking.batch_tokens import choose_batch_tokens, last_cache
from parlink.linking.candidates import CandidateSource, all_titles, look_up
from parlink.linking.coherence import add_coherence
from parlink.linking.decision import decide_documents
from parlink.linking.document_mentions import propose_again
from parlink.linking.document_names import add_longer_names
from parlink.linking.features import know_no_links
from parlink.linking.interrupt import check
from parlink.linking.mentions import (
    FoundMentions,
    TokenizedDocument,
    add_proposals,
    batch_windows,
    find_mentions,
    likely_starts,
    propose_only,
    surfaces_of,
    tokenize,
)
from parlink.linking.network import Network
from parlink.linking.onnx_network import OnnxNetwork
from parlink.linking.overlaps import resolve
from parlink.linking.scoring import score
from parlink.load_options import Precision
from parlink.types import Candidate, Document

if TYPE_CHECKING:  # torch, which it needs, takes a second to import
    from parlink.checkpoint.folder import Checkpoint

DEFAULT = LinkOptions()
POOL_BATCHES = 16  # gathered before the first is read, so that windows of like length come together
# oneDNN keeps the kernels of the last 1024 shapes, unless this is said before torch first computes. Nearly every batch
# has shapes of its own, and the kernels, lying between the large blocks that batches free, keep the heap from being
# used again. Keeping few costs no time that could be measured (benchmarks/memory.py).
KERNELS = "16"
Text = str | Document | Mapping[str, Any]  # a mapping: parlink's JSON as plain data
AnyText = TypeVar("AnyText", bound=Text)
AnyItem = TypeVar("AnyItem", TokenizedDocument, TokenizedDocument | Document)
T = TypeVar("T")
Runtime = Literal["torch", "onnx"]
Progress = Callable[[float], None]  # told which share of the work is done


class Linker:
    """A model, the knowledge base it links to, and where candidates come from; may be used from several threads."""

    def __init__(
        self,
        checkpoint: Checkpoint | OnnxCheckpoint,
        *,
        kb: KnowledgeBase | None = None,
        source: CandidateSource | None = None,
        device: str = "cpu",
    ) -> None:
        if checkpoint is None or isinstance(checkpoint, str | PathLike):
            raise ConfigError(f"a model is opened by Linker.load(folder), not by Linker({checkpoint!r:.60})")
        self.network = open_network(checkpoint, device=device)
        self.tokenizer, self.tuned = checkpoint.tokenizer, checkpoint.tuned
        self.kb, self.source = kb, _check_source(source)
        self.batch_tokens = choose_batch_tokens(self.network.config.encoder, cache=last_cache())
        self._dictionary: Dictionary | None = None  # the one used last
        self._remembered: RememberedView | None = None  # as is this

    @classmethod
    def load(
        cls,
        path: Path | str | None = None,
        *,
        kb: KnowledgeBase | Path | str | None = None,
        source: CandidateSource | None = None,
        device: str = "auto",
        precision: Precision | None = None,
        runtime: Runtime | None = None,
    ) -> Linker:
        """Open a model: a folder, one on the hub (`org/name`, `org/name@revision`), or the one that comes with parlink.

        Candidates come from `source`, else from the knowledge base: the one given, or the model's own `kb/`.
        `device` is `cpu`, `cuda`, `cuda:N`, or `auto` for the best there is. `precision` is `float32`, `bfloat16` or
        `int8`, which is faster on a CPU; None is float32, but bfloat16 on a GPU that has it. `runtime` is `torch` or
        `onnx`; None is `onnx` for a folder that `parlink export --format onnx` made, which is float32 and
        needs no torch.
        """
        for name, value in (("path", path), ("kb", kb)):
            if value == "" or not isinstance(value, str | PathLike | KnowledgeBase | None):
                raise ConfigError(f"{name} must be a folder, as a string or a Path, got {value!r:.60}")
        _check_source(source)
        folder = packaged_model() if path is None else model_folder(path)
        kb = own_kb(folder) if kb is None else kb
        opened = kb if isinstance(kb, KnowledgeBase | None) else KnowledgeBase.open(kb)
        with spinner("opening the model") if is_prompt() else nullcontext():
            checkpoint, device = load_model(folder, device=device, precision=precision, runtime=runtime)
        return cls(checkpoint, kb=opened, source=source or opened, device=device)

    def __repr__(self) -> str:
        return f"Linker(kb={self.kb!r}, device={self.network.device!r})"

    def with_candidates(self, source: CandidateSource | None) -> Linker:
        """The same model and knowledge base, with candidates from somewhere else, or from nowhere."""
        linker = copy(self)
        linker.source = _check_source(source)
        return linker

    @overload
    def link(
        self, documents: Text, *, options: LinkOptions = DEFAULT, progress: Progress | None = None, **fields: Any
    ) -> Document: ...

    @overload
    def link(
        self,
        documents: list[AnyText],
        *,
        options: LinkOptions = DEFAULT,
        progress: Progress | None = None,
        **fields: Any,
    ) -> list[Document]: ...

    def link(
        self,
        documents: Text | list[AnyText],
        *,
        options: LinkOptions = DEFAULT,
        progress: Progress | None = None,
        **fields: Any,
    ) -> Document | list[Document]:
        """Link a text or a document, or a list of these; raises if one cannot be linked.

        `fields` are those of `LinkOptions`: `link(text, min_confidence=0.5)` is the same as
        `link(text, options=LinkOptions(min_confidence=0.5))`.
        """
        if progress is None and is_prompt():
            with share_bar("linking") as progress:
                return self.link(documents, options=options, progress=progress, **fields)
        if not (progress is None or callable(progress)):
            raise ConfigError(f"progress must be a function of a number from 0 to 1, or None, got {progress!r:.60}")
        settings = self._resolve(options, fields)
        if isinstance(documents, Iterator):
            raise TextError(
                f"link wants one document or a list of them, got {documents!r:.60}; stream takes any iterable"
            )
        if not isinstance(documents, list | tuple):
            text = self._tokenize(documents)
            return self._link([text], settings, batch_tokens=self.network.config.max_tokens, progress=progress)[0]
        texts = [self._tokenize_nth(number, document) for number, document in enumerate(documents)]
        linked: list[Document] = []
        for pool in _pools(texts, batch_tokens=self.batch_tokens):
            tell = None if progress is None else partial(_tell_of_pool, progress, len(linked), len(pool), len(texts))
            linked += self._link(pool, settings, batch_tokens=self.batch_tokens, progress=tell)
        return linked

    def stream(
        self,
        documents: Iterable[Text],
        *,
        options: LinkOptions = DEFAULT,
        batch_tokens: int | None = None,
        **fields: Any,
    ) -> Iterator[Document]:
        """Link documents in their order, in constant memory; a failed one comes back in its place with `error` set.

        `fields` are those of `LinkOptions`, as in `link`.
        """
        counted = self.stream_counted(documents, options=options, batch_tokens=batch_tokens, **fields)
        return (doc for doc, _ in counted)

    def stream_counted(
        self,
        documents: Iterable[Text],
        *,
        options: LinkOptions = DEFAULT,
        batch_tokens: int | None = None,
        **fields: Any,
    ) -> Iterator[tuple[Document, int]]:
        """Link documents as `stream` does, and say of each how many tokens were read; of a failed one, 0."""
        if isinstance(documents, str | bytes | Document | Mapping) or not isinstance(documents, Iterable):
            raise TextError(f"stream wants many documents, got {documents!r:.60}; link takes one")
        batch_tokens = self.batch_tokens if batch_tokens is None else batch_tokens
        if type(batch_tokens) is not int or batch_tokens < 1:
            raise ConfigError(f"batch_tokens must be a whole number of at least 1, got {batch_tokens!r:.60}")
        settings = self._resolve(options, fields)
        pools = _pools(map(self._try_tokenize, documents), batch_tokens=batch_tokens)
        return chain.from_iterable(self._link_pool(pool, settings, batch_tokens) for pool in pools)

    def forget(self) -> None:
        """Forget what was read of entities, so that the last digits of scores do not depend on earlier calls."""
        self.network.forget()

    def _resolve(self, options: LinkOptions, fields: Mapping[str, Any]) -> LinkSettings:
        if not isinstance(options, LinkOptions):
            raise ConfigError(f"options must be a LinkOptions, as in LinkOptions(beams=3), got {options!r:.60}")
        return options.replace(fields).resolve(self.tuned)

    def _link_pool(
        self, pool: Sequence[TokenizedDocument | Document], settings: LinkSettings, batch_tokens: int
    ) -> Iterator[tuple[Document, int]]:
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
            doc = next(linked) if isinstance(item, TokenizedDocument) else item
            yield doc, len(item.tokens.ids) if isinstance(item, TokenizedDocument) and doc.error is None else 0

    def _tokenize(self, document: Text) -> TokenizedDocument:
        return tokenize(read_document(document), tokenizer=self.tokenizer, config=self.network.config)

    def _tokenize_nth(self, number: int, document: Text) -> TokenizedDocument:
        try:
            return self._tokenize(document)
        except ParlinkError as error:
            raise TextError(f"document {number} of the list: {error}") from error

    def _try_tokenize(self, document: Text) -> TokenizedDocument | Document:
        """Tokenize, or say in the document why not."""
        try:
            return self._tokenize(document)
        except ParlinkError as error:
            return _fail(document if isinstance(document, Document) else Document(_text_of(document)), error)

    def _link(
        self,
        texts: Sequence[TokenizedDocument],
        settings: LinkSettings,
        *,
        batch_tokens: int,
        progress: Progress | None = None,
    ) -> list[Document]:
        """The way of documents from tokens to links, one function a step."""
        network, tokenizer, docs = self.network, self.tokenizer, [text.doc for text in texts]
        view = None if self.kb is None else self.kb.snapshot()  # one state of the knowledge base, whatever changes
        batches: list[FoundMentions] = []
        for places in _report(list(batch_windows(texts, batch_tokens=batch_tokens)), progress, (0.0, 0.5)):
            batches.append(find_mentions(network, texts, places, threshold=settings.proposal_threshold))
        if settings.dictionary and view is not None and self.source is self.kb:
            named = self._propose_names(texts, batches, view, settings)
            batches = [add_proposals(batch, named) for batch in batches]
        if settings.document_mentions:
            again = propose_again(texts, (mention for batch in batches for mention in batch.mentions))
            batches = [add_proposals(batch, again) for batch in batches]
        known = None if view is None else self._remember(view)
        describe, say = (_know_nothing, _know_nothing) if known is None else (known.entity, known.description)
        linked_by = know_no_links if known is None else known.linked
        is_small = view is not None and len(view) <= OWN_TITLES
        own_kb = is_small and self.source is self.kb
        mentions = [mention for batch in batches for mention in batch.mentions]
        candidates = look_up(docs, mentions, _freeze(self.source, self.kb, known), settings)
        if settings.document_names:
            candidates = add_longer_names(docs, mentions, candidates, limit=settings.max_candidates)
        titles = partial(all_titles, self.kb, view, settings, tokenizer, device=network.device)
        remaining = iter(candidates)
        scored: list[list[Candidate]] = []
        for batch in _report(batches, progress, (0.5, 1.0)):
            choices = list(islice(remaining, len(batch.mentions)))
            scored += score(
                network,
                tokenizer,
                batch.known,
                surfaces_of(docs, batch.mentions),
                choices,
                settings,
                titles=titles,
                describe=describe,
                say=say,
                read=is_small,
            )
        if settings.weights.coherence and view is not None and view.has_links:
            scored = add_coherence(docs, mentions, scored, view, weight=settings.weights.coherence)
        links = decide_documents(
            docs, mentions, scored, settings, describe=describe, linked_by=linked_by, own_kb=own_kb
        )
        name = None if view is None else view.name
        return [resolve(doc, decisions, settings, kb=name) for doc, decisions in zip(docs, links, strict=True)]

    def _remember(self, view: View) -> RememberedView:
        """A state of the knowledge base with what is remembered of it; of another state nothing is."""
        known = self._remembered
        if known is None or known.view is not view:
            self._remembered = known = RememberedView(view)
        return known

    def _propose_names(
        self, texts: Sequence[TokenizedDocument], batches: Sequence[FoundMentions], view: View, settings: LinkSettings
    ) -> list[TokenizedDocument]:
        """The texts with nothing proposed but the names of the knowledge base; none where spans are given.

        A decision never links what the detector all but rules out: names of a large knowledge base are looked for only
        where a mention may start.
        """
        names = self._dictionary
        if names is None or (names.view, names.least_linked, names.any_case) != (
            view,
            settings.least_linked,
            settings.any_case,
        ):
            names = Dictionary(view, least_linked=settings.least_linked, any_case=settings.any_case)
            self._dictionary = names  # so that what was looked up need not be again
        starts = [None] * len(texts) if settings.decision is None else likely_starts(texts, batches)
        return [
            propose_only(text, names.find(text.doc.text, starts=at) if text.is_detected else (), source="dictionary")
            for text, at in zip(texts, starts, strict=True)
        ]


def load_model(
    folder: Path, *, device: str, precision: Precision | None, runtime: Runtime | None
) -> tuple[Checkpoint | OnnxCheckpoint, str]:
    """Open a model folder for what is to compute it, and choose the device."""
    if runtime not in (None, "torch", "onnx"):
        raise ConfigError(f"runtime must be 'torch' or 'onnx', got {runtime!r}")
    if runtime == "onnx" or (runtime is None and has_graphs(folder)):
        if device not in ("cpu", "auto"):
            raise ConfigError(f"onnxruntime computes on the CPU here, got device {device!r}; torch has others")
        if precision not in (None, "float32"):
            raise ConfigError(f"onnxruntime computes in float32 here, got precision {precision!r}; torch has others")
        return load_onnx(folder), "cpu"
    is_first = "torch" not in sys.modules  # else somebody may have computed with it
    from parlink.checkpoint.device import choose_device
    from parlink.checkpoint.folder import load_checkpoint
    from parlink.checkpoint.int8_kernel import avoid_crash
    from parlink.checkpoint.precision import set_precision

    if is_first and precision in ("int8", "bfloat16"):
        avoid_crash()
    place = choose_device(device)
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", KERNELS)
    checkpoint = load_checkpoint(folder)
    set_precision(checkpoint.model, precision, device=place)
    return checkpoint, str(place)


def open_network(checkpoint: Checkpoint | OnnxCheckpoint, *, device: str) -> Network:
    """Put a model where it computes."""
    if isinstance(checkpoint, OnnxCheckpoint):
        return OnnxNetwork(checkpoint.model, checkpoint.tokenizer)
    from parlink.linking.torch_network import TorchNetwork

    return TorchNetwork(checkpoint.model, checkpoint.tokenizer, device=device)


def _check_source(source: CandidateSource | None) -> CandidateSource | None:
    """Refuse what no candidates can be asked of."""
    if source is None or callable(getattr(source, "candidates", None)):
        return source
    raise ConfigError(f"source must have a method candidates, as a KnowledgeBase has, got {source!r:.60}")


def read_document(value: object) -> Document:
    """Make a document of a string, or of plain data as in JSON."""
    if isinstance(value, Document):
        return value
    if isinstance(value, str):
        return Document(value)
    if isinstance(value, Mapping):
        return jsonl.from_json(dict(value))
    raise TextError(f"got {value!r:.60}; wanted a string, a Document or a dict in the shape of parlink's JSON")


def _text_of(value: object) -> str:
    text = value.get("text") if isinstance(value, Mapping) else value
    return text if isinstance(text, str) else ""


def _pools(texts: Iterable[AnyItem], *, batch_tokens: int) -> Iterator[list[AnyItem]]:
    """Gather texts for several batches."""
    pool: list[AnyItem] = []
    waiting = 0
    for text in texts:
        pool.append(text)
        waiting += 1 + (len(text.tokens.ids) if isinstance(text, TokenizedDocument) else 0)
        if waiting >= POOL_BATCHES * batch_tokens:
            yield pool
            pool, waiting = [], 0
    if pool:
        yield pool


def _tell_of_pool(progress: Progress, done: int, size: int, whole: int, share: float) -> None:
    progress((done + share * size) / whole)


def _freeze(
    source: CandidateSource | None, kb: KnowledgeBase | None, known: RememberedView | None
) -> CandidateSource | None:
    """The state of a source that holds for the call."""
    if source is kb:
        return known
    return source.snapshot() if isinstance(source, KnowledgeBase) else source


def _know_nothing(_title: str) -> None:
    return None


def _fail(doc: Document, error: ParlinkError) -> Document:
    return replace(doc, links=(), error=str(error))


def _report(items: Sequence[T], progress: Progress | None, share: tuple[float, float]) -> Iterator[T]:
    """Yield items, and tell after each how far between the two shares of the work that is."""
    for done, item in enumerate(items, start=1):
        check()
        yield item
        if progress is not None:
            progress(share[0] + (share[1] - share[0]) * done / len(items))
