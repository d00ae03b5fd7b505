"""Changes as parlink kept them before they were in an SQLite file: a JSON file, taken over once."""

from __future__ import annotations

import logging
import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from msgspec.structs import replace

from parlink.errors import KnowledgeBaseError
from parlink.kb import overlay
from parlink.kb.records import Record, Records

FORMAT = 1
_log = logging.getLogger(__name__)


class _Added(msgspec.Struct, frozen=True):
    id: str | None = None
    description: str | None = None
    count: int = 1


class _Alias(msgspec.Struct, frozen=True):
    surface: str
    title: str
    count: int = 1


class _Hidden(msgspec.Struct, frozen=True):
    key: str
    title: str


class _Changes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All changes; titles are those of now, but for the keys of `changed`, which are titles of the folder."""

    format: int = FORMAT
    added: dict[str, _Added] = {}
    changed: dict[str, str | None] = {}  # what a title of the folder is called now; None: removed
    redirects: dict[str, str] = {}  # former titles that the folder does not have
    aliases: tuple[_Alias, ...] = ()
    hidden: tuple[_Hidden, ...] = ()


def take_over(old: Path, new: Path) -> Records | None:
    """Make the SQLite file of what an old file holds, if only that is there; the old one gets another name.

    Returns the changes only where no file can be made: then they can be read, and not be added to.
    """
    if new.exists() or not old.is_file():
        return None
    records = read(old)
    try:
        with TemporaryDirectory(prefix=f".{new.name}.", dir=new.parent) as folder:
            overlay.write_new(Path(folder) / new.name, records)
            _move(Path(folder) / new.name, new)
        old.rename(old.with_name(f"{old.name}.taken-over"))
    except (OSError, sqlite3.Error) as error:
        _log.warning("%s: the changes of an older parlink cannot be taken over into %s (%s)", old, new.name, error)
        return None if new.exists() else records
    return None


def read(path: Path) -> Records:
    """Read an old file of changes."""
    try:
        raw = path.read_bytes()
        version = msgspec.json.decode(raw, type=dict[str, Any]).get("format", FORMAT)
        if version != FORMAT:
            raise KnowledgeBaseError(f"{path}: made by a newer parlink (format {version}); install a newer parlink")
        return _to_records(msgspec.json.decode(raw, type=_Changes))
    except OSError as error:
        raise KnowledgeBaseError(f"{path}: the changes cannot be read ({error.strerror})") from error
    except (msgspec.DecodeError, UnicodeError) as error:
        message = f"{path}: not a file of changes ({error}); restore it, or move it away to drop the changes"
        raise KnowledgeBaseError(message) from error


def _to_records(changes: _Changes) -> Records:
    records = [_changed(base, title) for base, title in changes.changed.items()]
    records += [_added(title, entity) for title, entity in changes.added.items()]
    known = {record.title for record in records}
    touched = [alias.title for alias in changes.aliases] + [hidden.title for hidden in changes.hidden]
    records += [Record(base=title, title=title) for title in dict.fromkeys(touched) if title not in known]
    number = {record.title: place for place, record in enumerate(records) if record.title is not None}
    for name, title in changes.redirects.items():
        if title in number:
            records[number[title]] = _with_former(records[number[title]], name)
    for alias in changes.aliases:
        record = records[number[alias.title]]
        names = record.names | {alias.surface: record.names.get(alias.surface, 0) + alias.count}
        records[number[alias.title]] = replace(record, names=names)
    for hidden in changes.hidden:
        record = records[number[hidden.title]]
        records[number[hidden.title]] = replace(record, hidden=_join(record.hidden, hidden.key))
    return dict(enumerate(records, start=1))


def _changed(base: str, title: str | None) -> Record:
    """Make the record of a title that was changed; a new one counts as seen once, and the old one leads to it."""
    return Record(base=base) if title is None else Record(base=base, title=title, names={title: 1}, former=(base,))


def _added(title: str, entity: _Added) -> Record:
    return Record(title=title, added=True, id=entity.id, description=entity.description, names={title: entity.count})


def _with_former(record: Record, name: str) -> Record:
    return replace(record, names={name: 1} | record.names, former=_join(record.former, name))


def _join(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(sorted({*names, name}))


def _move(temporary: Path, target: Path) -> None:
    """Put a file in place unless there is one: two processes may take over at once, and one may have changed since."""
    with suppress(FileExistsError):
        os.link(temporary, target)
