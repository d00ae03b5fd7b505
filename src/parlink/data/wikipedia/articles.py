"""Training documents from a Wikipedia dump: clean text, links with exact offsets, dates and numbers dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from parlink.data.identifiers import Resolve
from parlink.data.parallel import Engine, batches
from parlink.data.titles import follow
from parlink.data.wikipedia import mediawiki
from parlink.data.wikipedia.dates import is_date_or_number
from parlink.data.wikipedia.repeats import mark_repeats
from parlink.types import Document, Link, Span

_PAGES_A_BATCH = 64


@dataclass(frozen=True, slots=True)
class Survey:
    """What a first pass over a dump learns: its redirects, and the titles that no link should lead to."""

    redirects: Mapping[str, str] = field(default_factory=dict)
    disambiguations: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Article:
    title: str
    text: str
    links: list[tuple[int, int, str]]


def survey(pages: Iterable[mediawiki.Page]) -> Survey:
    """Go through the pages of a dump for its redirects, followed to their end, and its disambiguation pages."""
    redirects: dict[str, str] = {}
    disambiguations = set()
    for page in pages:
        if page.namespace == 0 and page.redirect:
            redirects[page.title] = page.redirect
        elif mediawiki.skip_reason(page.title, page.text, namespace=page.namespace) == "disambiguation":
            disambiguations.add(page.title)
    return Survey({title: follow(title, redirects) for title in redirects}, frozenset(disambiguations))


def read(
    path: Path | str,
    *,
    known: Survey,
    resolve: Resolve | None = None,
    repeats: bool = False,
    engine: Engine = map,
    counts: Counter[str] | None = None,
) -> Iterator[Document]:
    """Yield a document for each article that is no list, date or disambiguation page; its id is its title.

    Links go through the dump's redirects, then through `resolve` (the KB's); a title that the KB lacks is kept
    and counted. With `repeats`, later mentions of linked surfaces are links too. `counts` is filled on the way.
    """
    counts = Counter() if counts is None else counts
    work = partial(_articles, namespaces=mediawiki.namespace_names(path))
    for articles, skipped in engine(work, batches(mediawiki.pages(path), _PAGES_A_BATCH)):
        counts.update({f"pages skipped: {reason}": number for reason, number in skipped.items()})
        for article in articles:
            doc = _make_document(article, known, resolve, counts)
            yield mark_repeats(doc, page_title=article.title) if repeats else doc


def _articles(pages: list[mediawiki.Page], *, namespaces: frozenset[str]) -> tuple[list[_Article], Counter[str]]:
    articles, skipped = [], Counter[str]()
    for page in pages:
        reason = "redirect" if page.redirect else None
        reason = reason or mediawiki.skip_reason(page.title, page.text, namespace=page.namespace)
        text, links = ("", []) if reason else mediawiki.clean(page.text, namespaces=namespaces)
        if text:
            articles.append(_Article(page.title, text, links))
        else:
            skipped[reason or "empty"] += 1
    return articles, skipped


def _make_document(article: _Article, known: Survey, resolve: Resolve | None, counts: Counter[str]) -> Document:
    links = []
    for start, end, target in article.links:
        title = known.redirects.get(target, target)
        if title in known.disambiguations:
            counts["links dropped: disambiguation"] += 1
        elif (resolved := entity_title(title, resolve, counts)) is not None:
            links.append(Link(Span(start, end), resolved))
    counts["documents"] += 1
    counts["links"] += len(links)
    return Document(article.text, article.title, tuple(links))


def entity_title(title: str, resolve: Resolve | None, counts: Counter[str]) -> str | None:
    """Return the title to train on, or None: a date or a number; a title that the KB lacks is kept and counted."""
    if is_date_or_number(title):
        counts["links dropped: date or number"] += 1
        return None
    resolved = resolve(title) if resolve else title
    if resolved is None:
        counts["links not in the KB"] += 1
    return resolved or title
