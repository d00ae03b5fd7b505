"""KnowledgeBase: a folder of entities that text is linked to, memory-mapped, with changes at run time."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from parlink.errors import KnowledgeBaseError
from parlink.kb import overlay as overlays
from parlink.kb import surfaces
from parlink.kb.overlay import Added, Alias, Overlay
from parlink.kb.tables import Info, Tables
from parlink.kb.view import View
from parlink.types import Candidate, Entity

if TYPE_CHECKING:  # torch, which they need, takes a second to import, and look-ups do without
    from parlink.kb.title_trees import TitleTree
    from parlink.nn.prefix_tree import PrefixTree
    from parlink.text.tokenizer import Tokenizer

MAX_CANDIDATES = 30


class KnowledgeBase:
    """Titles, ids, aliases with priors, descriptions; may be used from several threads and many processes.

    Changes are kept in an overlay file. Every look-up first asks the file system whether that file changed,
    so that a change made by any process is seen at the next look-up in all of them.
    """

    def __init__(self, tables: Tables, *, overlay: Path) -> None:
        self.folder, self._overlay = tables.folder, overlay
        self._tables = tables
        self._lock = threading.Lock()
        self._seen: overlays.Signature | None = None
        self._view = View(tables, Overlay())
        self._trees: dict[str, PrefixTree] = {}
        self._new: tuple[str, View, TitleTree] | None = None

    @classmethod
    def open(cls, folder: Path | str, *, overlay: Path | str | None = None) -> KnowledgeBase:
        """Open a folder made by `parlink kb build`; changes are kept in `overlay`, else beside the folder."""
        path = Path(folder).resolve()
        kb = cls(Tables.open(path), overlay=Path(overlay) if overlay else overlay_path(path))
        kb._now()
        return kb

    def __reduce__(self) -> tuple[Callable[[Path, Path], KnowledgeBase], tuple[Path, Path]]:
        return _reopened, (self.folder, self._overlay)

    @property
    def info(self) -> Info:
        """Where the knowledge base comes from, and how large it is, changes not counted."""
        return self._tables.info

    @property
    def name(self) -> str:
        """Name and hash of the content, and a hash of the changes if there are any."""
        view = self._now()
        changes = msgspec.json.encode(view.overlay)
        suffix = f"+{sha256(changes).hexdigest()[:8]}" if view.overlay != Overlay() else ""
        return f"{self.info.name}-{self.info.hash[:8]}{suffix}"

    def __len__(self) -> int:
        return len(self._now())

    def __contains__(self, title: object) -> bool:
        return isinstance(title, str) and self._now().number(title) is not None

    def titles(self) -> Iterator[str]:
        """Yield all titles: those of the folder in the order of their numbers, then added ones."""
        return self._now().titles()

    def candidates(self, surface: str, *, limit: int = MAX_CANDIDATES) -> Sequence[Candidate]:
        """Return the titles that a surface may refer to, the most probable first.

        All look-up steps are united, and each candidate names the closest step that found it. A count weighs
        a hundredth of one at the step before; priors sum to one before the cut at `limit`.
        """
        return self._now().candidates(surface, limit)

    def entity(self, title: str) -> Entity | None:
        """Return what is known of a title; None if there is no entity of exactly that title."""
        return self._now().entity(title)

    def resolve(self, identifier: str, *, ids: bool = True) -> str | None:
        """Return the title that a title, a former title, a URL or, with `ids`, an id stands for.

        Underscores may be spaces.
        """
        return self._now().resolve(identifier, ids=ids)

    def tree(self, tokenizer: Tokenizer) -> PrefixTree:
        """Return the tree of the folder's titles, changes not counted; the leaves hold the titles' numbers."""
        from parlink.kb.title_trees import base_tree

        with self._lock:
            if tokenizer.hash not in self._trees:
                self._trees[tokenizer.hash] = base_tree(self._tables, tokenizer)
            return self._trees[tokenizer.hash]

    def trees(self, tokenizer: Tokenizer) -> tuple[TitleTree, ...]:
        """Return trees that together hold all titles of now: the folder's with a mask, and that of the changes."""
        from parlink.kb.title_trees import TitleTree, mask

        view = self._now()
        base = TitleTree(self.tree(tokenizer), self._tables.title, mask(view.gone(), len(self._tables)))
        return (base, self._tree_of_changes(view, tokenizer)) if view.new_titles() else (base,)

    def add(self, entity: Entity, *, aliases: Sequence[str] = (), count: int = 1) -> None:
        """Add an entity, found by its title and by `aliases`; `count` is how often its title was seen."""
        title = _checked(entity.title, "title")
        names = [Alias(_checked(surface, "alias"), title) for surface in aliases]

        def make(view: View) -> Overlay:
            _refuse(view.number(title) is not None, f"{title!r} is there already; give the new one another title")
            changed = view.overlay.add(title, Added(entity.id, entity.description, _checked_count(count)))
            for alias in names:
                changed = changed.add_alias(alias)
            return changed

        self._change(make)

    def rename(self, old: str, new: str) -> None:
        """Give an entity another title; it is still found by the old one."""
        title = _checked(new, "title")

        def make(view: View) -> Overlay:
            _refuse(view.number(old) is None, f"there is no entity {old!r} to rename")
            _refuse(view.number(title) is not None, f"{title!r} is there already; give the entity another title")
            return view.overlay.rename(old, title, base=view.base_title(old))

        self._change(make)

    def remove(self, title: str) -> None:
        """Remove an entity with all its aliases."""

        def make(view: View) -> Overlay:
            _refuse(view.number(title) is None, f"there is no entity {title!r} to remove")
            return view.overlay.remove(title, base=view.base_title(title))

        self._change(make)

    def add_alias(self, surface: str, title: str, *, count: int = 1) -> None:
        """Let a surface find a title, as if it had been seen `count` times for it."""
        alias = Alias(_checked(surface, "alias"), title, _checked_count(count))

        def make(view: View) -> Overlay:
            _refuse(view.number(title) is None, f"there is no entity {title!r} to give the alias {surface!r}")
            return view.overlay.add_alias(alias)

        self._change(make)

    def remove_alias(self, surface: str, title: str) -> None:
        """Let a surface, in whatever spelling, no longer find a title."""

        def make(view: View) -> Overlay:
            _refuse(not view.finds(surface, title), f"{surface!r} is no alias of {title!r}")
            return view.overlay.remove_alias(surface, title)

        self._change(make)

    def _now(self) -> View:
        """Return the present state; one call of the file system if nothing changed."""
        seen = overlays.signature(self._overlay)
        if seen != self._seen:
            with self._lock:
                self._view, self._seen = View(self._tables, overlays.load(self._overlay)), seen
        return self._view

    def _change(self, make: Callable[[View], Overlay]) -> None:
        try:
            overlays.change(self._overlay, lambda overlay: make(View(self._tables, overlay)))
        except _RefusedError as error:
            raise KnowledgeBaseError(f"{self.folder}: {error}") from None

    def _tree_of_changes(self, view: View, tokenizer: Tokenizer) -> TitleTree:
        from parlink.kb.title_trees import small_tree

        kept = self._new
        if kept is None or kept[0] != tokenizer.hash or kept[1] is not view:
            kept = self._new = tokenizer.hash, view, small_tree(tuple(view.new_titles()), tokenizer)
        return kept[2]


class _RefusedError(Exception):
    """Why a change cannot be made."""


def overlay_path(folder: Path) -> Path:
    """Return where the changes to a folder are kept unless another file is given."""
    return folder.with_name(f"{folder.name}.overlay.json")


def copy_kb(source: Path | str, target: Path) -> None:
    """Copy a knowledge base with its changes; trees are made anew where they are needed."""
    folder = Path(source).resolve()
    Tables.open(folder)  # complains if it is none
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("trees"))
    overlay_path(target).unlink(missing_ok=True)
    if (changes := overlay_path(folder)).is_file():
        shutil.copyfile(changes, overlay_path(target))


def _reopened(folder: Path, overlay: Path) -> KnowledgeBase:
    return KnowledgeBase.open(folder, overlay=overlay)


def _refuse(wrong: bool, message: str) -> None:
    if wrong:
        raise _RefusedError(message)


def _checked(name: str, what: str) -> str:
    plain = " ".join(name.split())
    if not plain or not surfaces.key(plain):
        raise KnowledgeBaseError(f"an empty {what} cannot be added; give one with letters")
    return plain


def _checked_count(count: int) -> int:
    if count < 1:
        raise KnowledgeBaseError(f"a count must be at least 1, got {count}")
    return count
