"""Identifiers of entities in data files: titles, Wikipedia URLs, DBpedia URIs, Wikidata ids; and what they link to.

A benchmark's entity stays an entity whether or not our knowledge base has it. Its title is the one that the
knowledge base gives for the identifier, or for the name beside it; else the title that is in the identifier
itself; else, for an id alone, the id (the name, if no knowledge base was given). A title that the knowledge base
lacks can never be predicted, so such a mention counts in the score, as a miss.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from parlink.data.titles import plain_title, url_title

Resolve = Callable[[str], str | None]
UNKNOWN = "entities that the KB does not know; their mentions stay misses"
WIKIPEDIA = "http://en.wikipedia.org/wiki/"
WIKIDATA = "http://www.wikidata.org/entity/"

_PAGE = re.compile(
    r"https?://(?:[\w-]+\.)*(?:wikipedia\.org/(?:wiki/|w/index\.php\?(?:.*&)?title=)|dbpedia\.org/(?:resource|page)/)"
    r"([^#]+)(?:#.*)?"
)
_QID = re.compile(r"(?:https?://(?:www\.|m\.)?wikidata\.org/(?:entity|wiki)/|wd:)?(Q[1-9]\d*)")
_NIL = re.compile(r"https?://.*/(?:notInWiki|unknown_entity)/.*|--NME--|<?NIL>?|<unk_wid>|<unk>|<UNK>|Unknown\d+")


@dataclass(frozen=True, slots=True)
class Target:
    """What a mention links to, in the fields of a `Link`; all None is NIL."""

    title: str | None = None
    id: str | None = None
    url: str | None = None


def qid(identifier: str) -> str | None:
    """Return the Wikidata id that an identifier is or ends in."""
    match = _QID.fullmatch(identifier)
    return match[1] if match else None


def page_title(identifier: str) -> str | None:
    """Return the title in a Wikipedia URL or a DBpedia URI."""
    match = _PAGE.fullmatch(identifier)
    return plain_title(match[1]) if match else None


def page_url(title: str) -> str:
    """Return the Wikipedia URL that `page_title` reads as this title."""
    return WIKIPEDIA + url_title(title)


def is_nil(identifier: str) -> bool:
    """Whether an identifier says that the entity is in no knowledge base, as GERBIL, AIDA and ELEVANT write it."""
    return _NIL.fullmatch(identifier) is not None


def target(
    identifiers: Sequence[str],
    *,
    name: str | None = None,
    resolve: Resolve | None = None,
    losses: Counter[str] | None = None,
) -> Target:
    """Say what identifiers of one entity, the best first, link to; `name` is a label that stands beside them.

    `losses` counts what `resolve` does not know, and what it knows by name only.
    """
    given = [identifier for identifier in identifiers if identifier and not is_nil(identifier)]
    if not given:
        return Target()
    titles = [title for title in map(page_title, given) if title is not None]
    ids = [qid(text) or text for text in given if "://" not in text or qid(text)]
    known = _known([*ids, *titles, *given], name, resolve, Counter() if losses is None else losses)
    named = [name] if name and resolve is None else []
    title = known or [*titles, *named, *(text.replace("_", " ") for text in ids), *given][0]
    return Target(
        title,
        id=next((text for text in ids if text.replace("_", " ") != title), None),
        url=next((text for text in given if "://" in text and not _is_plain(text)), None),
    )


def _known(forms: Sequence[str], name: str | None, resolve: Resolve | None, losses: Counter[str]) -> str | None:
    if resolve is None:
        return None
    for form in forms:
        if (title := resolve(form)) is not None:
            return title
    if name and (title := resolve(name)) is not None:
        losses["entities that the KB knows by name only"] += 1
        return title
    losses[UNKNOWN] += 1
    return None


def _is_plain(url: str) -> bool:
    """Whether a URL says no more than a title or an id, which can make it again."""
    title = page_title(url)
    return qid(url) is not None or (title is not None and page_url(title) == url)
