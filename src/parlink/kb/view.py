"""A knowledge base as it is at one moment: its tables, and the changes over them.

It answers exactly as a folder would that is built anew with the changes in it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

from parlink.data.references import unescape_title
from parlink.kb import surfaces
from parlink.kb.changes import Changes
from parlink.kb.names import ALIAS, REDIRECT, Names
from parlink.kb.priors import weigh
from parlink.kb.records import Record
from parlink.kb.tables import Linked, Tables
from parlink.kb.variants import variants
from parlink.types import Candidate, Entity

MAX_CANDIDATES = 30
VARIANT = "variant"  # match type of what only another spelling of the surface finds
LEAST_PRIOR = 0.004  # of a candidate, unless all are below it; of 5,120 gold titles of eight sets two have less
_URL_SAFE = "/:@!$*(),;~"
_PLAIN = re.compile(rf"[\w.{_URL_SAFE}-]*", re.ASCII)  # what is itself in a URL


class NameRow(NamedTuple):
    """A name: the number of its title, what kind of name it is, checksums of its spelling, how often it was seen."""

    title: int
    kind: int
    form: int
    seen: float


class View:
    """Look-ups in the tables of a KB under some changes; safe to use from several threads while nobody changes it."""

    def __init__(self, tables: Tables, changes: Changes) -> None:
        self.tables, self.changes = tables, changes

    @property
    def name(self) -> str:
        """Name and hash of the content, and a hash of the changes if there are any."""
        suffix = f"+{self.changes.hash >> 32:08x}" if self.changes.records else ""
        return f"{self.tables.info.name}-{self.tables.info.hash[:8]}{suffix}"

    def __len__(self) -> int:
        return len(self.tables) + self.changes.growth

    def __contains__(self, title: object) -> bool:
        return isinstance(title, str) and self.number(title) is not None

    def titles(self) -> Iterator[str]:
        """Yield all titles: those of the folder in the order of their numbers, then added ones."""
        for number in range(len(self.tables)):
            if (title := self.title(number)) is not None:
                yield title
        yield from self.changes.added()

    def entities(self) -> Iterator[Entity]:
        """Yield all entities, in the order of `titles`."""
        for title in self.titles():
            number = self.number(title)
            assert number is not None, "titles have numbers"
            yield self._entity(number, title)

    __iter__ = entities

    def by_id(self, identifier: str) -> Entity | None:
        """Return the entity that has an id; of several the one seen most."""
        number = self.with_id(identifier)
        title = None if number is None else self.title(number)
        return None if number is None or title is None else self._entity(number, title)

    def title(self, number: int) -> str | None:
        """Return the title with a number, None if it was removed."""
        record = self.changes.of(number)
        return self.tables.title(number) if record is None else record.title

    def number(self, title: str) -> int | None:
        """Return the number of a title, or None if there is no such title now."""
        if title in self.changes.title:
            return self.changes.title[title]
        number = self.tables.number(title)
        return None if number in self.changes.record else number

    def resolve(self, identifier: str, *, ids: bool = True) -> str | None:
        """Return the title that a title, a former title, a URL or, with `ids`, an id stands for.

        Underscores may be spaces, and characters may be written as references (`&amp;`).
        """
        name = _from_url(identifier) if "://" in identifier else identifier
        plain = " ".join(unescape_title(name.replace("_", " ")).split())
        for spelling in dict.fromkeys((name, plain, plain[:1].upper() + plain[1:])):
            number = self._resolve(spelling, ids=ids)
            if number is not None:
                return self.title(number)
        return None

    def entity(self, title: str) -> Entity | None:
        """Return what is known of a title; None if there is no entity of exactly that title."""
        number = self.number(title)
        return None if number is None else self._entity(number, title)

    def description(self, title: str) -> str | None:
        """Return the description of a title, or of what a former title is called now."""
        number = self.number(title)
        if number is None and (now := self.resolve(title, ids=False)) is not None:
            number = self.number(now)
        return None if number is None else self._description(number)

    def candidates(self, surface: str, *, limit: int = MAX_CANDIDATES) -> Sequence[Candidate]:
        """Return the titles that a surface may refer to, the most probable first.

        All look-up steps are united (`priors.weigh`), and each candidate names the closest step that found it. Priors
        sum to one before the cut at `limit`, and before those below `LEAST_PRIOR` are dropped. Of equals
        the one seen most comes first, then the first in the alphabet. A surface that no name has is tried in other
        spellings (`variants`).
        """
        if candidates := self._candidates(surface, limit):
            return candidates
        others = (self._candidates(variant, limit) for variant in variants(surface))
        return [replace(candidate, match_type=VARIANT) for candidate in next(filter(None, others), [])]

    def _candidates(self, surface: str, limit: int) -> list[Candidate]:
        names = self.names(surfaces.key(surface))
        if not len(names.title):
            return []
        steps = names.steps(surface)
        if (names.title == names.title[0]).all():  # as with a third of all surfaces
            return [self._candidate(int(names.title[0]), 1.0, int(steps.min()))][:limit]
        weights = weigh(names, steps)
        order = np.argsort(weights, kind="stable")  # so that sums do not depend on the order of the names
        numbers, at = np.unique(names.title[order], return_inverse=True)
        mass: NDArray[np.float64] = np.bincount(at, weights[order], len(numbers)).astype(np.float64)
        step = np.full(len(numbers), len(surfaces.STEPS))
        np.minimum.at(step, at, steps[order])
        priors = mass / np.sort(mass).sum()
        likely = np.flatnonzero(priors >= min(LEAST_PRIOR, priors.max(initial=0.0)))
        best = likely[self._rank(numbers[likely], mass[likely], limit)]
        columns = (numbers[best].tolist(), priors[best].tolist(), step[best].tolist())
        return [self._candidate(*row) for row in zip(*columns, strict=True)]

    def finds(self, surface: str, title: str) -> bool:
        """Whether a title is among all the candidates of a surface."""
        return self.number(title) in self.names(surfaces.key(surface)).title.tolist()

    def names(self, key: str) -> Names:
        """Find the names that hang on a key."""
        names, changes = self.tables.names(key), self.changes
        if not changes.records:
            return names
        spelled, made, hidden = changes.spelled.get(key, ()), changes.made.get(key, ()), changes.hidden.get(key, ())
        if not (spelled or made or hidden) and changes.record.keys().isdisjoint(names.title.tolist()):
            return names
        counts = {
            (number, kind, form): count
            for number, kind, form, count in _rows(names)
            if number not in changes.record or (kind <= REDIRECT and number not in hidden and self.title(number))
        }
        for name in spelled:
            redirect = (name.number, REDIRECT, name.form)
            row = redirect if redirect in counts else (name.number, ALIAS, name.form)
            counts[row] = counts.get(row, 0.0) + name.more
        for short in made:
            row = (short.number, short.kind, 0)
            counts[row] = counts.get(row, 0.0) + self._popularity(short.number)
        return _names(counts)

    def name_keys(self) -> Iterator[str]:
        """Yield the keys of all names; some may have lost theirs by changes."""
        yield from self.tables.name_keys()
        for key in {*self.changes.spelled, *self.changes.made}:
            if not self.tables.has_key(key):
                yield key

    def name_rows(self, key: str) -> Iterator[NameRow]:
        """Yield the names that hang on a key, one by one."""
        return itertools.starmap(NameRow, _rows(self.names(key)))

    def times_seen(self, title: str) -> int:
        """Return how often a title was seen under any name; 0 if there is no such title."""
        number = self.number(title)
        return 0 if number is None else int(self.seen(np.array([number]))[0])

    def seen(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how often titles were seen under any name."""
        if not self.changes.records:
            return self.tables.title_counts(numbers)
        base = numbers < len(self.tables)
        counts = np.zeros(len(numbers), np.int64)
        counts[base] = self.tables.title_counts(numbers[base])
        if self.changes.more:
            counts += np.fromiter((self.changes.more.get(number, 0) for number in numbers.tolist()), np.int64)
        return counts

    def popularity(self, title: str) -> int:
        """Return how well known a title is: how often it was seen, unless the sources say it in another way."""
        number = self.number(title)
        return 0 if number is None else self._popularity(number)

    def _popularity(self, number: int) -> int:
        base = self.tables.popularity(number) if number < len(self.tables) else 0
        return base + self.changes.more.get(number, 0)

    def linked(self, surface: str) -> Linked | None:
        """Return how often a surface is a link where it occurs in texts; None if that is not known."""
        return self.tables.linked(surface)

    @property
    def has_links(self) -> bool:
        """Whether there is a link graph."""
        return self.tables.graph is not None

    def pages(self, title: str) -> NDArray[np.int64]:
        """Return the numbers of the pages that link to a title, or to what a former title is called now, ascending."""
        number, graph = self._resolve(title, ids=False), self.tables.graph
        if graph is None or number is None or number >= len(self.tables):
            return np.empty(0, np.int64)
        return graph.pages(number)

    def pages_of(self, titles: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many pages link to each of some titles, and their numbers, title by title as `pages` does."""
        many, graph = np.zeros(len(titles), np.int64), self.tables.graph
        numbers = np.array([-1 if (n := self._resolve(t, ids=False)) is None else n for t in titles], np.int64)
        known = (numbers >= 0) & (numbers < len(self.tables))
        if graph is None or not known.any():
            return many, np.empty(0, np.int64)
        many[known], pages = graph.pages_of(numbers[known])
        return many, pages

    def page_weights(self, pages: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how much each page says: less, the more titles it links to."""
        graph = self.tables.graph
        return np.ones(len(pages)) if graph is None else graph.page_weights(pages)

    def kind(self, title: str) -> str | None:
        """Return what the sources call the type of a title, such as a DBpedia class."""
        number = self.number(title)
        return None if number is None or number >= len(self.tables) else self.tables.kind(number)

    def gone(self) -> list[int]:
        """Numbers of the tables whose title there is not theirs any more: renamed or removed."""
        return sorted(
            number
            for number, place in self.changes.record.items()
            if number < len(self.tables) and self.changes.records[place].title != self.tables.title(number)
        )

    def new_titles(self) -> list[str]:
        """Titles that the tables do not have for an entity: new names, and added ones."""
        renamed = (self.title(number) for number in self.gone())
        return [*(title for title in renamed if title is not None), *self.changes.added()]

    def _entity(self, number: int, title: str) -> Entity:
        record, tables = self.changes.of(number) or Record(), self.tables
        type_, identifier = record.type, self._id(number)
        if number < len(tables):
            type_ = type_ or tables.type(number)
        return Entity(
            title,
            id=identifier,
            type=type_,
            description=self._description(number),
            url=self._url(title, identifier),
            popularity=self._popularity(number),
        )

    def _description(self, number: int) -> str | None:
        record = self.changes.of(number)
        said = record.description if record else None
        return said or (self.tables.description(number) if number < len(self.tables) else None)

    def _id(self, number: int) -> str | None:
        record = self.changes.of(number)
        return (record.id if record else None) or self.changes.tables_id(number)

    def _rank(self, numbers: NDArray[np.int64], mass: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
        """Return the places of the best; titles must be known only where equals meet."""
        seen = self.seen(numbers)
        best = np.lexsort((-seen, -mass))
        if len(best) > limit:
            last = best[max(limit - 1, 0)]
            best = best[(mass[best] > mass[last]) | ((mass[best] == mass[last]) & (seen[best] >= seen[last]))]
        before, after = best[:-1], best[1:]
        equal = (mass[before] == mass[after]) & (seen[before] == seen[after])
        if equal.any():
            titles = {i: self.title(int(numbers[i])) for i in {*before[equal].tolist(), *after[equal].tolist()}}
            ranked = sorted(best.tolist(), key=lambda i: (-mass[i], -seen[i], titles.get(i)))
            best = np.array(ranked, np.int64)
        return best[:limit]

    def _candidate(self, number: int, prior: float, step: int) -> Candidate:
        title, identifier = self.title(number), self._id(number)
        assert title is not None, "removed titles are not found"
        return Candidate(
            title, id=identifier, prior=prior, match_type=surfaces.STEPS[step], url=self._url(title, identifier)
        )

    def _url(self, title: str, identifier: str | None) -> str | None:
        template = self.tables.info.url_template
        if template is None or (identifier is None and "{id}" in template):
            return None
        name = title.replace(" ", "_")
        quoted = name if _PLAIN.fullmatch(name) else quote(name, safe=_URL_SAFE)  # which takes longer to see that
        url = template.replace("{title}", quoted)
        return url.replace("{id}", quote(identifier)) if identifier else url

    def _resolve(self, name: str, *, ids: bool) -> int | None:
        number = self.number(name)
        if number is None:
            number = self.changes.former.get(name)
        if number is None:
            number = self._redirect(name)
        return self.with_id(name) if number is None and ids else number

    def _redirect(self, name: str) -> int | None:
        number = self.tables.redirect(name)
        record = None if number is None else self.changes.of(number)
        if record is None:
            return number
        gone = record.title is None or name in record.lost or surfaces.key(name) in record.hidden
        return None if gone else number

    def with_id(self, identifier: str) -> int | None:
        """Return the number of the title that has an id; of several the one seen most."""
        number = self.tables.with_id(identifier)
        changed = self.changes.id.get(identifier, ())
        if not changed and (number is None or number not in self.changes.record):
            return number
        numbers = {*changed, *(each for each in self.tables.all_with_id(identifier) if each not in self.changes.record)}
        seen = {each: int(self.seen(np.array([each]))[0]) for each in numbers}
        return min(numbers, key=lambda each: (-seen[each], self.title(each)), default=None)


def _rows(names: Names) -> Iterator[tuple[int, int, int, float]]:
    columns = (names.title, names.kind, names.form, names.count)
    return zip(*(column.tolist() for column in columns), strict=True)


def _names(counts: dict[tuple[int, int, int], float]) -> Names:
    rows = np.array(list(counts), np.int64).reshape(-1, 3)
    return Names(
        title=rows[:, 0],
        kind=rows[:, 1],
        form=rows[:, 2].astype(np.uint16),
        count=np.fromiter(counts.values(), np.float64),
    )


def _from_url(url: str) -> str:
    """Return the name that ends a URL of a page: what follows /wiki/, or the last slash."""
    path = url.partition("#")[0].partition("?")[0]
    return unquote(path.partition("/wiki/")[2] or path.rpartition("/")[2])
