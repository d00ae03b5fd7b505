"""What is known beside gold and predictions: one spelling for titles, the knowledge base, the training data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from parlink.data import formats
from parlink.data.identifiers import Resolve
from parlink.data.titles import read_redirects
from parlink.evaluation.counting import entity
from parlink.types import Document, Link

if TYPE_CHECKING:
    from parlink.kb import KnowledgeBase


@dataclass(frozen=True, slots=True)
class Redirects:
    """From a title, or an id, to the title it redirects to or to itself, and where that was read; reports name it."""

    source: str
    resolve: Callable[[str], str]
    identify: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class EvalContext:
    """Each part adds to the report; without redirects titles are compared as they are."""

    redirects: Redirects | None = None
    kb: str | None = None
    in_kb: Callable[[str], bool] | None = None
    seen: Set[str] | None = None  # entities of the training data
    seen_source: str = "training data"


NO_CONTEXT = EvalContext()


def gather(
    *, kb: KnowledgeBase | None = None, redirects: Path | str | None = None, seen: Iterable[Path | str] = ()
) -> EvalContext:
    """Put together what the files know; redirects of the file come before those of the knowledge base."""
    files = tuple(seen)
    return EvalContext(
        redirects=_redirects(kb, redirects),
        kb=None if kb is None else kb.name,
        in_kb=None if kb is None else kb.__contains__,
        seen=entities_of(files, resolve=None if kb is None else kb.resolve) if files else None,
        seen_source=", ".join(str(path) for path in files) or "training data",
    )


def entities_of(paths: Iterable[Path | str], *, resolve: Resolve | None = None) -> frozenset[str]:
    """Collect the entities that the links of some files name."""
    documents = (doc for path in paths for doc in formats.read(path, resolve=resolve))
    return frozenset(name for doc in documents for link in doc.links if (name := entity(link)) is not None)


def apply_redirects(doc: Document, redirects: Redirects | None) -> Document:
    """Bring the titles of a document's links and candidates to one spelling; no redirects, no change."""
    if redirects is None:
        return doc
    return replace(doc, links=tuple(_link(link, redirects) for link in doc.links))


def _redirects(kb: KnowledgeBase | None, path: Path | str | None) -> Redirects | None:
    if kb is None and path is None:
        return None
    table = {} if path is None else read_redirects(path)

    def resolve(title: str) -> str:
        current = table.get(title, title)
        return current if kb is None else kb.resolve(current, ids=False) or current

    def identify(identifier: str) -> str:
        return identifier if kb is None else kb.resolve(identifier) or identifier

    named = [str(path)] * (path is not None) + ([f"the knowledge base {kb.name}"] if kb is not None else [])
    return Redirects(" and ".join(named), resolve, identify)


def _link(link: Link, redirects: Redirects) -> Link:
    candidates = tuple(replace(candidate, title=redirects.resolve(candidate.title)) for candidate in link.candidates)
    title = link.title
    if title is None and (identifier := entity(link)) is not None:
        title = redirects.identify(identifier)
    return replace(link, title=None if title is None else redirects.resolve(title), candidates=candidates)
