"""A knowledge base as it is at one moment: its tables, and the changes of one overlay over them.

Titles have numbers: those of the tables keep theirs, also when renamed, and added ones follow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

from parlink.kb import surfaces
from parlink.kb.overlay import Overlay
from parlink.kb.tables import Names, Tables
from parlink.types import Candidate, Entity

_URL_SAFE = "/:@!$*(),;~"
_LEAST_COUNT = 0.01  # of a name that is known, but was never seen in a text


class _Name(NamedTuple):
    """A name that the overlay adds; `step` None: it depends on how the text is spelled."""

    number: int
    surface: str
    seen: int
    step: int | None = None


class View:
    """Look-ups in the tables of a KB under an overlay."""

    def __init__(self, tables: Tables, overlay: Overlay) -> None:
        self.tables, self.overlay = tables, overlay
        numbered = ((tables.number(title), now) for title, now in overlay.changed.items())
        self._changed = {number: now for number, now in numbered if number is not None}
        self._added_titles = [title for title in overlay.added if self._is_new(title)]
        self._added = {title: len(tables) + place for place, title in enumerate(self._added_titles)}
        self._removed = [number for number, now in self._changed.items() if now is None]
        self._renamed = {now: number for number, now in self._changed.items() if now is not None}
        self._hidden: dict[str, list[int]] = defaultdict(list)
        for hidden in overlay.hidden:
            if (number := self.number(hidden.title)) is not None:
                self._hidden[hidden.key].append(number)
        self._names = self._index_names()

    def _is_new(self, title: str) -> bool:
        """Whether the tables lack a title; a KB may have been built again, with what was added before."""
        number = self.tables.number(title)
        return number is None or number in self._changed

    def __len__(self) -> int:
        return len(self.tables) - len(self._removed) + len(self._added)

    def titles(self) -> Iterator[str]:
        """Yield the titles in the order of their numbers."""
        titles = map(self.title, range(len(self.tables) + len(self._added)))
        return (title for title in titles if title is not None)

    def title(self, number: int) -> str | None:
        """Return the title with a number, None if it was removed."""
        if number >= len(self.tables):
            return self._added_titles[number - len(self.tables)]
        return self._changed[number] if number in self._changed else self.tables.title(number)

    def number(self, title: str) -> int | None:
        """Return the number of a title, or None if there is no such title now."""
        found = self._added.get(title, self._renamed.get(title))
        if found is not None:
            return found
        base = self.tables.number(title)
        return None if base in self._changed else base

    def base_title(self, title: str) -> str | None:
        """Return what a title of now is called in the tables; None if it was added."""
        number = self.number(title)
        return self.tables.title(number) if number is not None and number < len(self.tables) else None

    def resolve(self, identifier: str, *, ids: bool) -> str | None:
        """Return the title that a title, a former title, a URL or, with `ids`, an id stands for."""
        name = _from_url(identifier) if "://" in identifier else identifier
        plain = " ".join(name.replace("_", " ").split())
        for spelling in dict.fromkeys((name, plain, plain[:1].upper() + plain[1:])):
            number = self._resolved(spelling, ids=ids)
            if number is not None:
                return self.title(number)
        return None

    def entity(self, title: str) -> Entity | None:
        """Return what is known of a title."""
        number = self.number(title)
        if number is None:
            return None
        added = self.overlay.added.get(title)
        identifier = added.id if added else self.tables.id(number)
        description = added.description if added else self.tables.description(number)
        return Entity(title, id=identifier, description=description, url=self._url(title, identifier))

    def candidates(self, surface: str, limit: int) -> list[Candidate]:
        """Return the titles that a surface may refer to: the most probable first, of equals the one seen most."""
        names = self._found(surface)
        weights = np.take(surfaces.STEP_WEIGHTS, names.step) * np.maximum(names.count, _LEAST_COUNT)
        numbers, at = np.unique(names.title, return_inverse=True)
        mass = np.bincount(at, weights, len(numbers))
        step = np.full(len(numbers), len(surfaces.STEPS))
        np.minimum.at(step, at, names.step)
        best = np.lexsort((numbers, -self._seen(numbers), -mass))[:limit]
        priors = mass[best] / mass.sum()
        found = zip(numbers[best].tolist(), priors.tolist(), step[best].tolist(), strict=True)
        return [self._candidate(*each) for each in found]

    def finds(self, surface: str, title: str) -> bool:
        """Whether a title is among all the candidates of a surface."""
        return self.number(title) in self._found(surface).title.tolist()

    def gone(self) -> list[int]:
        """Numbers of the tables whose title there is not theirs any more: renamed or removed."""
        return sorted(self._changed)

    def new_titles(self) -> list[str]:
        """Titles that the tables do not have for an entity: new names, and added ones."""
        return [*self._renamed, *self._added]

    def _candidate(self, number: int, prior: float, step: int) -> Candidate:
        title = self.title(number)
        assert title is not None, "removed titles are not found"
        added = number >= len(self.tables)
        identifier = self.overlay.added[title].id if added else self.tables.id(number)
        return Candidate(
            title, id=identifier, prior=prior, match_type=surfaces.STEPS[step], url=self._url(title, identifier)
        )

    def _seen(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how often titles were seen under any name."""
        base = numbers[numbers < len(self.tables)]
        added = (self.overlay.added[self._added_titles[number - len(self.tables)]] for number in numbers[len(base) :])
        return np.append(self.tables.title_count[base].astype(np.int64), [entity.count for entity in added])

    def _url(self, title: str, identifier: str | None) -> str | None:
        template = self.tables.info.url_template
        if template is None or (identifier is None and "{id}" in template):
            return None
        url = template.replace("{title}", quote(title.replace(" ", "_"), safe=_URL_SAFE))
        return url.replace("{id}", quote(identifier)) if identifier else url

    def _resolved(self, name: str, *, ids: bool) -> int | None:
        number = self.number(name)
        if number is None:
            number = self.tables.number(name)  # as it was called before
        if number is not None:
            return number if self.title(number) is not None else None
        if name in self.overlay.redirects:
            return self.number(self.overlay.redirects[name])
        numbers: tuple[int | None, ...] = (self.tables.redirect(name), *(self._with_id(name) if ids else ()))
        for found in numbers:
            if found is not None and self.title(found) is not None:
                return found
        return None

    def _with_id(self, identifier: str) -> tuple[int | None, int | None]:
        added = (self.number(title) for title, entity in self.overlay.added.items() if entity.id == identifier)
        return next(added, None), self.tables.with_id(identifier)

    def _found(self, surface: str) -> Names:
        base, key = self.tables.names(surface), surfaces.key(surface)
        if not self._removed and key not in self._names and key not in self._hidden:
            return base
        kept = ~np.isin(base.title, self._removed + self._hidden.get(key, []))
        new = self._names.get(key, [])
        steps = [surfaces.step(surface, name.surface) if name.step is None else name.step for name in new]
        return Names(
            title=np.append(base.title[kept], np.array([name.number for name in new], np.int64)),
            step=np.append(base.step[kept], np.array(steps, np.int64)),
            count=np.append(base.count[kept], np.array([name.seen for name in new], np.float64)),
        )

    def _index_names(self) -> dict[str, list[_Name]]:
        """Index by key: new titles with what is made of them, and former ones, unless hidden; and aliases."""
        names: dict[str, list[_Name]] = defaultdict(list)
        made = [name for title in self.new_titles() for name in self._names_of(title)]
        former = ((self.number(title), old) for old, title in self.overlay.redirects.items())
        made += [_Name(number, old, 1) for number, old in former if number is not None]
        for name in made:
            key = surfaces.key(name.surface)
            if name.number not in self._hidden.get(key, ()):
                names[key].append(name)
        for alias in self.overlay.aliases:
            if (number := self.number(alias.title)) is not None:
                names[surfaces.key(alias.surface)].append(_Name(number, alias.surface, alias.count))
        return dict(names)

    def _names_of(self, title: str) -> Iterator[_Name]:
        number = self.number(title)
        assert number is not None
        count = self.overlay.added[title].count if title in self.overlay.added else 1
        yield _Name(number, title, count)
        if short := surfaces.without_parenthesis(title):
            yield _Name(number, short, count, surfaces.TITLE)
        for part in surfaces.parts(title):
            yield _Name(number, part, count, surfaces.PART)


def _from_url(url: str) -> str:
    """Return the name that ends a URL of a page: what follows /wiki/, or the last slash."""
    path = url.partition("#")[0].partition("?")[0]
    return unquote(path.partition("/wiki/")[2] or path.rpartition("/")[2])
