"""KnowledgeBase: a folder of entities that text is linked to, memory-mapped, with changes at run time."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

from parlink.errors import KnowledgeBaseError
from parlink.kb import edits
from parlink.kb.changes import Changes
from parlink.kb.info import Info
from parlink.kb.overlay import OverlayFile, copy_overlay
from parlink.kb.overlay_json import take_over
from parlink.kb.records import Record, Records
from parlink.kb.recovery import recover
from parlink.kb.tables import Tables
from parlink.kb.view import MAX_CANDIDATES, View
from parlink.types import Candidate, Entity

if TYPE_CHECKING:  # torch, which they need, takes a second to import, and look-ups do without
    from parlink.kb.title_trees import TitleTree
    from parlink.nn.prefix_tree import PrefixTree
    from parlink.text.tokenizer import Tokenizer

_OPENED: WeakSet[KnowledgeBase] = WeakSet()  # in this process, so that a forked one can open anew


class KnowledgeBase:
    """Titles, ids, aliases with priors, descriptions; may be used from several threads and many processes.

    Changes are kept in an overlay file. Every look-up first asks whether that file changed, so that a change made
    by any process is seen at the next look-up in all of them.
    """

    def __init__(self, tables: Tables, *, overlay: Path) -> None:
        self.folder, self._overlay = tables.folder, OverlayFile(overlay)
        self._tables = tables
        self._lock = threading.RLock()  # held by whoever reads or changes `_view`
        self._view = View(tables, Changes(tables))
        self._is_shared = False  # whether somebody may keep `_view`, so that a change must leave it as it is
        self._tree_lock = threading.RLock()  # one of its own: look-ups do not wait for a tree that is being made
        self._trees: dict[tuple[str, str], PrefixTree] = {}  # by tokenizer and device
        self._title_tree: tuple[str, str, View, TitleTree] | None = None  # the one asked for last
        _OPENED.add(self)

    @classmethod
    def open(cls, folder: Path | str, *, overlay: Path | str | None = None) -> KnowledgeBase:
        """Open a folder made by `parlink kb build`; changes are kept in `overlay`, else beside the folder.

        A file of changes has the suffix .sqlite: one named .json, as older versions made, is taken over into it.
        """
        if not isinstance(folder, str | PathLike):
            raise KnowledgeBaseError(
                f"a knowledge base is opened by its folder, a string or a Path, got {folder!r:.60}"
            )
        path = Path(folder).resolve()
        if not path.exists():
            recover(path)
        wanted = Path(overlay) if overlay else overlay_path(path)
        changes = wanted.with_suffix(".sqlite") if wanted.suffix == ".json" else wanted
        kb = cls(Tables.open(path), overlay=changes)
        records = take_over(changes.with_suffix(".json"), changes)
        kb._refresh()
        kb._apply(records or {})
        return kb

    def __reduce__(self) -> tuple[Callable[[Path, Path], KnowledgeBase], tuple[Path, Path]]:
        return _reopen, (self.folder, self._overlay.path)

    def __repr__(self) -> str:
        return f"KnowledgeBase({str(self.folder)!r}, {len(self):,} entities)"

    @property
    def info(self) -> Info:
        """Where the knowledge base comes from, and how large it is, changes not counted."""
        return self._tables.info

    @property
    def overlay(self) -> Path:
        """The file that holds the changes; it need not be there."""
        return self._overlay.path

    @property
    def name(self) -> str:
        """Name and hash of the content, and a hash of the changes if there are any."""
        with self._lock:
            return self._refresh().name

    def snapshot(self) -> View:
        """Return the state of now, which later changes do not touch: with the same look-ups, for as long as wanted."""
        with self._lock:
            view, self._is_shared = self._refresh(), True
            return view

    def __len__(self) -> int:
        with self._lock:
            return len(self._refresh())

    def __contains__(self, title: object) -> bool:
        with self._lock:
            return title in self._refresh()

    def titles(self) -> Iterator[str]:
        """Yield all titles of now: those of the folder in the order of their numbers, then added ones."""
        return self.snapshot().titles()

    def entities(self) -> Iterator[Entity]:
        """Yield all entities of now, in the order of `titles`."""
        return self.snapshot().entities()

    __iter__ = entities

    def by_id(self, identifier: str) -> Entity | None:
        """Return the entity that has an id; of several the one seen most."""
        edits.check_string(identifier, "id")
        with self._lock:
            return self._refresh().by_id(identifier)

    def candidates(self, surface: str, *, limit: int = MAX_CANDIDATES) -> Sequence[Candidate]:
        """Return the titles that a surface may refer to, the most probable first; see `View.candidates`."""
        edits.check_string(surface, "surface")
        if type(limit) is not int or limit < 0:
            raise KnowledgeBaseError(f"limit must be a whole number of at least 0, got {limit!r:.60}")
        with self._lock:
            return self._refresh().candidates(surface, limit=limit)

    def entity(self, title: str) -> Entity | None:
        """Return what is known of a title; None if there is no entity of exactly that title."""
        edits.check_string(title, "title")
        with self._lock:
            return self._refresh().entity(title)

    def resolve(self, identifier: str, *, ids: bool = True) -> str | None:
        """Return the title that a title, a former title, a URL or, with `ids`, an id stands for.

        Underscores may be spaces.
        """
        edits.check_string(identifier, "name")
        with self._lock:
            return self._refresh().resolve(identifier, ids=ids)

    def tree(self, tokenizer: Tokenizer, *, device: str = "cpu") -> PrefixTree:
        """Return the tree of the folder's titles, changes not counted; the leaves hold the titles' numbers."""
        from parlink.kb.title_trees import base_tree

        with self._tree_lock:
            if (tokenizer.hash, device) not in self._trees:
                tree = base_tree(self._tables, tokenizer) if device == "cpu" else self.tree(tokenizer).to(device)
                self._trees[tokenizer.hash, device] = tree
            return self._trees[tokenizer.hash, device]

    def title_tree(self, tokenizer: Tokenizer, *, view: View | None = None, device: str = "cpu") -> TitleTree:
        """Return the tree of all titles of a snapshot, or of now; what is new in it takes memory as the changes do."""
        from parlink.kb.title_trees import edit_titles

        view, last = view or self.snapshot(), self._title_tree
        if last is not None and last[:2] == (tokenizer.hash, device) and last[2] is view:
            return last[3]
        titles = edit_titles(self.tree(tokenizer), view, tokenizer, copy=self.tree(tokenizer, device=device))
        self._title_tree = tokenizer.hash, device, view, titles
        return titles

    def add(self, entity: Entity, *, aliases: Sequence[str] = (), count: int = 1) -> None:
        """Add an entity, found by its title and by `aliases`; `count` is how often each was seen for it."""
        self._change(lambda view: edits.add(view, entity, aliases=aliases, count=count))

    def rename(self, old: str, new: str) -> None:
        """Give an entity another title; it is still found by the old one."""
        self._change(lambda view: edits.rename(view, old, new))

    def remove(self, title: str) -> None:
        """Remove an entity with all its aliases."""
        self._change(lambda view: edits.remove(view, title))

    def add_alias(self, surface: str, title: str, *, count: int = 1) -> None:
        """Let a surface find a title, as if it had been seen `count` times for it."""
        self._change(lambda view: edits.add_alias(view, surface, title, count=count))

    def remove_alias(self, surface: str, title: str) -> None:
        """Let a surface, in whatever spelling, no longer find a title."""
        self._change(lambda view: edits.remove_alias(view, surface, title))

    def _refresh(self) -> View:
        """Bring the view up to what the file holds now, and return it; for those who hold the lock."""
        news = self._overlay.read_news()
        if news is not None and news.afresh:
            self._view, self._is_shared = View(self._tables, Changes(self._tables)), False
        if news is not None:
            self._apply(news.records)
        return self._view

    def _apply(self, records: Records) -> None:
        if records and self._is_shared:
            self._view, self._is_shared = View(self._tables, self._view.changes.copy()), False
        for number, record in sorted(records.items(), key=_built_in_first):
            self._view.changes.put(number, record)

    def _change(self, edit: Callable[[View], Records]) -> None:
        try:
            with self._lock:
                view = self._refresh()
                if not self._overlay.exists():
                    edit(view)  # what is refused leaves no file
                with self._overlay.changing() as records:
                    records |= edit(self._refresh())
                self._apply(records)
        except edits.RefusedError as error:
            raise KnowledgeBaseError(f"{self.folder}: {error}") from None

    def _open_anew(self) -> None:
        """Start afresh in a forked process: another thread may have held the lock, or been in the midst of a change."""
        self._lock, self._tree_lock = threading.RLock(), threading.RLock()
        self._overlay.leave_to_parent()
        self._view, self._is_shared = View(self._tables, Changes(self._tables)), False


def overlay_path(folder: Path) -> Path:
    """Return where the changes to a folder are kept unless another file is given."""
    return folder.with_name(f"{folder.name}.overlay.sqlite")


def copy_kb(source: Path | str, target: Path) -> None:
    """Copy a knowledge base with its changes; trees are made anew where they are needed."""
    folder = Path(source).resolve()
    Tables.open(folder)  # complains if it is none
    changes = overlay_path(folder)
    take_over(changes.with_suffix(".json"), changes)
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("trees"))
    copy_overlay(changes, overlay_path(target))


def _reopen(folder: Path, overlay: Path) -> KnowledgeBase:
    return KnowledgeBase.open(folder, overlay=overlay)


def _built_in_first(item: tuple[int, Record | None]) -> bool:
    """Sort records of the folder's entities before added ones, which may have the titles that those gave away."""
    return item[1] is not None and item[1].base is None


def _after_fork() -> None:
    for kb in list(_OPENED):
        kb._open_anew()


os.register_at_fork(after_in_child=_after_fork)
