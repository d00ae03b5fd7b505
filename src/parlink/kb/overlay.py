"""Changes to a knowledge base at run time: a small JSON file beside the folder, replaced as a whole.

Whoever changes it holds a lock (`FILE.lock`), reads the file afresh, and puts the changed one in its place
by a rename: two processes never lose each other's changes, and a reader sees the old file or the new one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from parlink.errors import KnowledgeBaseError
from parlink.kb import surfaces

FORMAT = 1
LOCK_SECONDS = 10.0
_NO_FILE = (FileNotFoundError, NotADirectoryError)
Signature = tuple[int, int, int]


class Added(msgspec.Struct, frozen=True, omit_defaults=True):
    """An entity that the base does not have."""

    id: str | None = None
    description: str | None = None
    count: int = 1


class Alias(msgspec.Struct, frozen=True):
    """A surface form by which a title is found."""

    surface: str
    title: str
    count: int = 1


class Hidden(msgspec.Struct, frozen=True):
    """A key by which a title is no longer found."""

    key: str
    title: str


class Overlay(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """All changes; titles are those of now, but for the keys of `changed`, which are titles of the base."""

    format: int = FORMAT
    added: dict[str, Added] = {}
    changed: dict[str, str | None] = {}  # what a title of the base is called now; None: removed
    redirects: dict[str, str] = {}  # former titles that are not in the base
    aliases: tuple[Alias, ...] = ()
    hidden: tuple[Hidden, ...] = ()

    def add(self, title: str, entity: Added) -> Overlay:
        """Add an entity."""
        free = self._without_redirect(title)
        return msgspec.structs.replace(free, added={**free.added, title: entity})

    def remove(self, title: str, *, base: str | None) -> Overlay:
        """Remove an entity with its aliases; `base` is its title in the base, None for one that was added."""
        return msgspec.structs.replace(
            self,
            added={name: entity for name, entity in self.added.items() if name != title},
            changed=self.changed if base is None else {**self.changed, base: None},
            redirects={old: new for old, new in self.redirects.items() if new != title},
            aliases=tuple(alias for alias in self.aliases if alias.title != title),
            hidden=tuple(hidden for hidden in self.hidden if hidden.title != title),
        )

    def rename(self, old: str, new: str, *, base: str | None) -> Overlay:
        """Rename an entity; its aliases stay with it."""
        free = self._without_redirect(new)
        changed = free.changed if base is None else {**free.changed, base: new}
        redirects = {name: new if title == old else title for name, title in free.redirects.items()}
        if old != base:
            redirects[old] = new
        return msgspec.structs.replace(
            free,
            added={new if name == old else name: entity for name, entity in free.added.items()},
            changed={title: now for title, now in changed.items() if now != title},
            redirects=redirects,
            aliases=tuple(Alias(a.surface, new, a.count) if a.title == old else a for a in free.aliases),
            hidden=tuple(Hidden(h.key, new) if h.title == old else h for h in free.hidden),
        )

    def _without_redirect(self, name: str) -> Overlay:
        """Free a former title for another entity; the one that had it is still found by it, as by an alias."""
        title = self.redirects.get(name)
        if title is None:
            return self
        hidden = Hidden(surfaces.key(name), title) in self.hidden
        kept = self if hidden else self.add_alias(Alias(name, title))
        return msgspec.structs.replace(kept, redirects={old: new for old, new in self.redirects.items() if old != name})

    def add_alias(self, alias: Alias) -> Overlay:
        """Add an alias; counts of the same surface and title add up."""
        same = [a for a in self.aliases if (a.surface, a.title) == (alias.surface, alias.title)]
        count = alias.count + sum(a.count for a in same)
        kept = tuple(a for a in self.aliases if a not in same)
        return msgspec.structs.replace(self, aliases=(*kept, Alias(alias.surface, alias.title, count)))

    def remove_alias(self, surface: str, title: str) -> Overlay:
        """Make sure that a surface, however it is spelled, does not find a title any more."""
        key = surfaces.key(surface)
        hidden = Hidden(key, title)
        return msgspec.structs.replace(
            self,
            aliases=tuple(a for a in self.aliases if a.title != title or surfaces.key(a.surface) != key),
            hidden=self.hidden if hidden in self.hidden else (*self.hidden, hidden),
        )


def signature(path: Path) -> Signature | None:
    """Return what tells one state of the file from another without reading it; None: there is no file."""
    try:
        status = path.stat()
    except _NO_FILE:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size


def load(path: Path) -> Overlay:
    """Read the changes; none if there is no file."""
    try:
        raw = path.read_bytes()
    except _NO_FILE:
        return Overlay()
    except OSError as error:
        raise KnowledgeBaseError(f"{path}: the changes cannot be read ({error.strerror})") from error
    try:
        version = msgspec.json.decode(raw).get("format", FORMAT)
        if version > FORMAT:
            raise KnowledgeBaseError(f"{path}: made by a newer parlink (format {version}); install a newer parlink")
        return msgspec.json.decode(raw, type=Overlay)
    except (msgspec.DecodeError, UnicodeError, AttributeError, TypeError) as error:
        message = f"{path}: not a file of changes ({error}); restore it, or move it away to drop the changes"
        raise KnowledgeBaseError(message) from error


def save(path: Path, overlay: Overlay) -> None:
    """Put changes in place of those that the file holds."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(overlay), indent=1) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        _date_after(temporary, path)
        temporary.replace(path)
    except OSError as error:
        message = f"{path}: the change cannot be saved ({error.strerror}), and was not made; give another overlay file"
        raise KnowledgeBaseError(message) from error
    finally:
        temporary.unlink(missing_ok=True)


def _date_after(new: Path, old: Path) -> None:
    """Make `new` the younger file even if the clock has not ticked since `old`, so that signatures always differ."""
    last = signature(old)
    if last is not None and new.stat().st_mtime_ns <= last[0]:
        os.utime(new, ns=(last[0] + 1, last[0] + 1))


def change(path: Path, make: Callable[[Overlay], Overlay], *, seconds: float = LOCK_SECONDS) -> Overlay:
    """Apply a change to what the file holds now, alone; returns the new state. What `make` raises changes nothing."""
    with _locked(path, seconds):
        overlay = make(load(path))
        save(path, overlay)
        return overlay


@contextmanager
def _locked(path: Path, seconds: float) -> Iterator[None]:
    """Hold the lock; the operating system frees it if the process dies, so that it is never stale."""
    lock = FileLock(f"{path}.lock", timeout=seconds)
    try:
        lock.acquire()
    except Timeout as error:
        message = f"{path}: another process has been changing it for {seconds:g} s; try again when it is done"
        raise KnowledgeBaseError(message) from error
    except OSError as error:
        message = f"{path}: the change cannot be saved ({error.strerror}), and was not made; give another overlay file"
        raise KnowledgeBaseError(message) from error
    try:
        yield
    finally:
        lock.release()
