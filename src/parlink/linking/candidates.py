"""What each mention may refer to: the candidates that come with the document, else those of its surface."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from parlink.config import LinkSettings
from parlink.errors import ParlinkError
from parlink.kb import KnowledgeBase
from parlink.kb.view import View
from parlink.linking.mentions import Mention
from parlink.text.tokenizer import Tokenizer
from parlink.types import Candidate, Document, Span

if TYPE_CHECKING:  # torch, which it needs, takes a second to import
    from parlink.kb.title_trees import TitleTree


class CandidateSource(Protocol):
    """Whatever knows which entities a surface form may refer to: a knowledge base, a table."""

    def candidates(self, surface: str, *, limit: int) -> Sequence[Candidate]:
        """Return at most `limit` candidates, the most probable first."""
        ...


def look_up(
    docs: Sequence[Document], mentions: Sequence[Mention], source: CandidateSource | None, settings: LinkSettings
) -> list[Sequence[Candidate]]:
    """Find the candidates of each mention; those given in the document for its very span are the only ones there."""
    given = [_given_candidates(doc) for doc in docs]
    by_surface: dict[str, Sequence[Candidate]] = {}
    candidates: list[Sequence[Candidate]] = []
    for mention in mentions:
        span, text = mention.span, docs[mention.document].text
        choice: Sequence[Candidate] | None = given[mention.document].get(span)
        if choice is None:
            surface = text[span.start : span.end]
            if surface not in by_surface:
                by_surface[surface] = () if source is None else _ask(source, surface, settings)
            choice = by_surface[surface]
        candidates.append(_allow(choice, settings))
    return candidates


def all_titles(
    kb: KnowledgeBase | None, view: View | None, settings: LinkSettings, tokenizer: Tokenizer, *, device: str
) -> TitleTree:
    """Open what a mention without candidates is searched in: the titles that the call is restricted to, else the KB."""
    if settings.titles is not None:
        from parlink.kb.title_trees import small_tree

        return small_tree(tuple(sorted(settings.titles)), tokenizer, device=device)
    if kb is None:
        raise ParlinkError("a search over all titles needs a knowledge base; give one to Linker.load(kb=...)")
    return kb.title_tree(tokenizer, view=view, device=device)


def _given_candidates(doc: Document) -> dict[Span, tuple[Candidate, ...]]:
    """The candidates that a document brings along; the first of several links of a span counts."""
    return {link.span: link.candidates for link in reversed(doc.links) if link.candidates}


def _ask(source: CandidateSource, surface: str, settings: LinkSettings) -> Sequence[Candidate]:
    limit = settings.max_candidates if settings.titles is None else sys.maxsize  # of which few may be allowed
    return tuple(source.candidates(surface, limit=limit))


def _allow(candidates: Sequence[Candidate], settings: LinkSettings) -> Sequence[Candidate]:
    titles = settings.titles
    allowed = candidates if titles is None else [candidate for candidate in candidates if candidate.title in titles]
    return allowed[: settings.max_candidates]
