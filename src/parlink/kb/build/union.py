"""Two knowledge bases into one, with the changes of both: entities that are the same become one, and counts add up.

A title of the second is the first's entity of the same title, of the same id, or of a former title that either knows;
what both say of an entity is taken from the first.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from parlink.errors import KnowledgeBaseError
from parlink.kb import arrays
from parlink.kb.build.facts import IS_LINKED, OCCURS
from parlink.kb.build.info import write_info
from parlink.kb.build.link_probability import Seen
from parlink.kb.build.spill import Spill
from parlink.kb.build.work import open_work_folder, put_in_place, remove_remains
from parlink.kb.build.write import Spills, write_spills
from parlink.kb.info import Info
from parlink.kb.knowledge_base import KnowledgeBase
from parlink.kb.names import ALIAS, REDIRECT, form
from parlink.kb.shapes import shape
from parlink.kb.tables import LINKED_SCALE
from parlink.kb.view import View
from parlink.types import Entity

_PAGE_SPACE = 1 << 62  # in which the pages of both graphs keep their order, so that samples stay samples


def merge(first: KnowledgeBase, second: KnowledgeBase, output: Path | str, *, name: str | None = None) -> Info:
    """Write the union of two knowledge bases as a new folder; it appears when it is complete."""
    target = Path(output).absolute()
    remove_remains(target)
    if target.exists():
        raise KnowledgeBaseError(f"{target}: there already; give another folder")
    with open_work_folder(target) as work:
        union = _Union(first.snapshot(), second.snapshot(), work)
        (work / "kb").mkdir()
        union.take_names()
        guesses = _guesses(union.views)
        written = write_spills(union.spills, union.take_titles(), work / "kb", seen=union.seen, guesses=guesses)
        info = write_info(
            work / "kb",
            written,
            name=name or target.name,
            url_template=first.info.url_template or second.info.url_template,
            sources=(*first.info.sources, *second.info.sources),
            notes=union.notes,
        )
        put_in_place(work, target)
    return info


class _Union:
    """What goes into the new folder, on its way there."""

    def __init__(self, first: View, second: View, scratch: Path) -> None:
        self.views = first, second
        self.spills, self.notes = Spills(scratch), Counter[str]()
        self.seen: Spill[Seen] = Spill(scratch, "seen")
        self._made: Spill[tuple[str, str, int]] = Spill(scratch, "made")  # key, title, kind
        self._takes_ids = _same_scheme(first, second)
        self._has_popularity = all(view.tables.has_popularity for view in self.views)
        self._joined = dict(self._join())
        self._more = Counter[str]()  # how often titles were seen under the titles that are joined to them
        for title, into in self._joined.items():
            self._more[into] += second.times_seen(title)

    def _join(self) -> Iterator[tuple[str, str]]:
        """Yield titles of the second that are another title's entity in the first."""
        first, second = self.views
        former = {second.resolve(title, ids=False): title for title in first.titles() if title not in second}
        for entity in second.entities():
            if entity.title in first:
                self.notes["entities that both have, made one"] += 1
                continue
            into = first.resolve(entity.title, ids=False) or former.get(entity.title)
            if into is None and entity.id and self._takes_ids:
                same = first.by_id(entity.id)
                into = same.title if same else None
            if into is not None:
                self.notes["entities that both have under different titles, made one"] += 1
                yield entity.title, into

    def take_names(self) -> None:
        """Take in the names of both, and how often they are links."""
        for number, view in enumerate(self.views):
            redirects = _redirects_of(view)
            for key in view.name_keys():
                for row in view.name_rows(key):
                    title = view.title(row.title)
                    assert title is not None, "removed titles have no names"
                    into = self._joined.get(title, title) if number else title
                    if row.kind > REDIRECT:
                        if into == title:
                            self._made.add((key, into, row.kind))
                        continue
                    kind = REDIRECT if redirects.get((row.title, row.form), row.kind == REDIRECT) else ALIAS
                    if into != title and row.form == form(title):
                        kind = REDIRECT
                    self.spills.names.add((key, into, kind, row.form, row.form, shape(key)), int(row.seen))
                self._take_linked(view, key)
        for (key, title, kind), _ in self._made:
            known = self._known(title) if self._has_popularity else self._seen(title)
            self.spills.names.add((key, title, kind, 0, 0, shape(key)), known)

    def _take_linked(self, view: View, key: str) -> None:
        for spelling, probability in view.tables.linked_forms(key).items():
            self.seen.add((key, spelling, OCCURS), LINKED_SCALE)
            self.seen.add((key, spelling, IS_LINKED), round(probability * LINKED_SCALE))

    def _seen(self, title: str) -> int:
        return sum(view.times_seen(title) for view in self.views if self._is_own(view, title)) + self._more[title]

    def _known(self, title: str) -> int:
        return sum(view.popularity(title) for view in self.views if self._is_own(view, title))

    def _is_own(self, view: View, title: str) -> bool:
        return view is self.views[0] or title not in self._joined

    def take_titles(self) -> Iterator[str]:
        """Yield the titles, each once the rest of it is taken in."""
        first, second = self.views
        for entity in first.entities():
            yield self._take(entity, second.entity(entity.title))
        for entity in second.entities():
            if entity.title not in first and entity.title not in self._joined:
                yield self._take(entity, None)

    def _take(self, entity: Entity, other: Entity | None) -> str:
        other, title = other or Entity(entity.title), entity.title
        identifier = entity.id or (other.id if self._takes_ids else None)
        if identifier and (self._takes_ids or title in self.views[0]):
            self.spills.ids.add((identifier, title))
        self.spills.columns.add(
            title,
            type=entity.type or other.type or "",
            kind=next(filter(None, (view.kind(title) for view in self.views)), None) or "",
            description=entity.description or other.description or "",
            popularity=self._known(title) if self._has_popularity else None,
        )
        pages = [key for number, view in enumerate(self.views) for key in _page_keys(view, title, number)]
        self.spills.graph.add(title, array("Q", sorted(pages)))
        return title


def _same_scheme(first: View, second: View) -> bool:
    """Whether the ids of two knowledge bases are of one kind; if not, those of the second are left out."""
    schemes = {view.tables.info.id_scheme for view in (first, second) if view.tables.info.id_scheme}
    return len(schemes) < 2


def _guesses(views: Sequence[View]) -> arrays.Array | None:
    """Return how often names of each shape are links: the mean of what both say, each as good as it has names."""
    shapes = [(view.tables.shape_linked, view.tables.info.names) for view in views]
    known = [(column, names) for column, names in shapes if column is not None]
    if not known:
        return None
    mean = np.average([column for column, _ in known], axis=0, weights=[names for _, names in known])
    guesses: arrays.Array = np.rint(mean).astype(np.uint16)
    return guesses


def _redirects_of(view: View) -> dict[tuple[int, int], bool]:
    """Return what the changes say of former titles: by number and form, whether they lead to the title."""
    says: dict[tuple[int, int], bool] = {}
    for place, record in view.changes.records.items():
        number = view.changes.number.get(place)
        if number is not None:
            says |= {(number, form(name)): False for name in record.lost}
            says |= {(number, form(name)): True for name in record.former}
    return says


def _page_keys(view: View, title: str, number: int) -> list[int]:
    """Return keys of the pages that link to a title; the two graphs do not know which pages they share."""
    graph = view.tables.graph
    if graph is None:
        return []
    step = _PAGE_SPACE // max(len(graph.page_links), 1)
    return ((view.pages(title) * step) * 2 + number).tolist() if len(view.pages(title)) else []
