"""What running texts say: links, redirects, disambiguation pages, what each page links to, how articles begin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import msgspec

from parlink.data import jsonl
from parlink.data.wikipedia import mediawiki
from parlink.errors import DataFormatError
from parlink.kb.surfaces import drop_parenthesis
from recipes.wikipedia.kinds.noun_phrases import noun_phrase, space_punctuation
from recipes.wikipedia.sources import AIDA, ARTICLES, DUMPS, ENWIK8, PAGE_LINKS, SCHOOLS, Data, SourceFile
from recipes.wikipedia.spelling import spell

_OLD = (ENWIK8, SCHOOLS)  # before 2008: many of their titles have moved since
_LONGEST_OPENING = 600  # characters
_SHORTEST_OPENING = 60
_LEAD_REGION = 6000  # characters of wikitext in which an article begins
AIDA_PAGE = "AIDA:"  # before the names of its documents, which are no titles

Name = tuple[str, str]  # surface, title
Page = tuple[str, list[str]]  # its title, and what it links to


@dataclass
class Texts:
    """All of it, titles as `spell` spells them, redirects not yet followed."""

    links: Counter[Name] = field(default_factory=Counter)
    aida_links: Counter[Name] = field(default_factory=Counter)
    candidates: dict[Name, float] = field(default_factory=dict)  # of AIDA's mentions: the largest prior
    listed: set[Name] = field(default_factory=set)  # on a disambiguation page
    redirects: dict[str, str] = field(default_factory=dict)
    disambiguations: set[str] = field(default_factory=set)
    articles: set[str] = field(default_factory=set)
    recent: set[str] = field(default_factory=set)  # articles after 2007
    pages: list[Page] = field(default_factory=list)
    table_pages: list[Page] = field(default_factory=list)  # of which only the links are known, most of them in tables
    openings: dict[str, str] = field(default_factory=dict)  # first paragraph of an article

    @property
    def all_links(self) -> Iterator[tuple[Name, int]]:
        """Yield the links of Wikipedia, then those of AIDA."""
        yield from self.links.items()
        yield from self.aida_links.items()


def gather_texts(data: Data) -> Texts:
    """Read all dumps, articles, and lists of page links, and AIDA's training documents if they are given."""
    texts = Texts()
    for source in DUMPS:
        _gather_dump(texts, data, source)
    for source in ARTICLES:
        for article in data.objects(source):
            _gather_article(texts, article, data, source)
    for page in data.objects(PAGE_LINKS):
        texts.table_pages.append((spell(page["title"]), sorted({spell(title) for title in page["links"]})))
    if data.aida:
        _gather_documents(texts, data)
    return texts


def _gather_dump(texts: Texts, data: Data, source: SourceFile) -> None:
    path = data.path(source)
    namespaces = mediawiki.namespace_names(path)
    for page in mediawiki.pages(path):
        data.entries[source] += 1
        title = spell(mediawiki.normal_target(page.title))
        if page.redirect is not None:
            if page.namespace == 0 and (target := spell(page.redirect)) != title:
                texts.redirects[title] = target
            continue
        reason = mediawiki.skip_reason(title, page.text, namespace=page.namespace)
        if reason != "namespace":
            _gather_page(texts, title, page.text, reason, namespaces)
            if reason is None and source not in _OLD:
                texts.recent.add(title)


def _gather_page(texts: Texts, title: str, text: str, reason: str | None, namespaces: frozenset[str]) -> None:
    links = [(surface, spell(target)) for surface, target in mediawiki.links(text, namespaces=namespaces)]
    texts.links.update(links)
    if reason == "disambiguation":
        texts.disambiguations.add(title)
        texts.listed.update(_list_meanings(title, text, namespaces))
    if reason in (None, "list"):
        texts.pages.append((title, sorted({target for _, target in links})))
    if reason is None:
        texts.articles.add(title)
        paragraphs = mediawiki.clean(text[:_LEAD_REGION])[0].split("\n")
        opening = next((each for each in paragraphs if len(each) > _SHORTEST_OPENING), "")
        texts.openings[title] = space_punctuation(opening[:_LONGEST_OPENING])


def _list_meanings(title: str, text: str, namespaces: frozenset[str]) -> Iterator[Name]:
    """Yield the first link of each item of a disambiguation page: what its name may mean."""
    surface = drop_parenthesis(title) or title
    for line in text.split("\n"):
        if line.startswith("*"):
            for _, target in islice(mediawiki.links(line, namespaces=namespaces), 1):
                yield surface, spell(target)


def _gather_article(texts: Texts, article: dict[str, Any], data: Data, source: SourceFile) -> None:
    try:
        paragraphs = msgspec.convert(article["paragraphs"], list[_Paragraph])
        title = spell(article["title"])
    except (KeyError, msgspec.ValidationError) as error:
        message = f"no article, wanted {{'title', 'paragraphs': [{{'text', 'links'}}]}}: {error!r}"
        raise DataFormatError(message, path=data.path(source), line=data.entries[source]) from error
    targets = set()
    for paragraph in paragraphs:
        for start, end, target in paragraph.links:
            surface = " ".join(paragraph.text[start:end].split())
            if surface and target.strip():
                texts.links[surface, spell(target)] += 1
                targets.add(spell(target))
    texts.pages.append((title, sorted(targets)))
    texts.articles.add(title)
    if source not in _OLD:
        texts.recent.add(title)
    long = (
        space_punctuation(each.text[:_LONGEST_OPENING]) for each in paragraphs if len(each.text) > _SHORTEST_OPENING
    )
    texts.openings.setdefault(title, next(filter(noun_phrase, long), ""))


def _gather_documents(texts: Texts, data: Data) -> None:
    for doc in jsonl.read(data.path(AIDA)):
        data.entries[AIDA] += 1
        targets = set()
        for link in doc.links:
            surface = " ".join(doc.text[link.span.start : link.span.end].split())
            if link.title is not None:
                texts.aida_links[surface, spell(link.title)] += 1
                targets.add(spell(link.title))
            for candidate in link.candidates:
                name = surface, spell(candidate.title)
                texts.candidates[name] = max(texts.candidates.get(name, 0.0), candidate.prior or 0.0)
        texts.pages.append((f"{AIDA_PAGE}{doc.id}", sorted(targets)))


class _Paragraph(msgspec.Struct):
    text: str
    links: list[tuple[int, int, str]] = []
