"""The file that holds the changes to a knowledge base: SQLite, one row for each entity that was changed.

A change is one transaction, so that any number of processes may change and read at once, and one that is killed
leaves the file as it was before its last change or after it. Rows carry the number of the change that wrote them:
who has read up to some change asks only for what is newer. The write-ahead log is not flushed to the disk with
every change: a change survives the end of the process, and a power cut may take the last ones, never half of one.
"""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import msgspec

from parlink.errors import KnowledgeBaseError
from parlink.kb.records import Records, decode, encode

FORMAT = 2  # 1 was a JSON file
LOCK_SECONDS = 10.0
_SCHEMA = (
    "CREATE TABLE changes (entity INTEGER PRIMARY KEY, version INTEGER NOT NULL, record TEXT, checksum INTEGER)",
    "CREATE INDEX changes_version ON changes (version)",
    f"PRAGMA user_version = {FORMAT}",
)
_UPSERT = "INSERT OR REPLACE INTO changes (entity, version, record, checksum) VALUES (?, ?, ?, ?)"
_READ = "SELECT entity, version, record, checksum FROM changes WHERE version > ? ORDER BY version, entity"
_NEVER = ()  # the state of a file that was not looked at yet
_FORKED: list[sqlite3.Connection] = []  # of a parent process: to be neither used nor closed here


@dataclass(frozen=True)
class News:
    """What changed since the file was read last; `afresh`: forget all that was read before."""

    records: Records
    afresh: bool = False


class OverlayFile:
    """The overlay file of one process; it need not be there. To be used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._close: weakref.finalize[[], OverlayFile] | None = None
        self._seen: tuple[int, ...] | None = _NEVER
        self._live = True  # False: opened as a file that nobody changes, so that only its date tells of a change
        self._version = 0
        self._data_version: int | None = None

    def exists(self) -> bool:
        """Whether there is a file."""
        return self._state() is not None

    def read_news(self) -> News | None:
        """Return what changed since the last call, by whichever process; None if nothing did.

        That costs a call of the file system and, if there is a file, a look into its shared memory.
        """
        state = self._state()
        afresh = state != self._seen
        if afresh:
            self._disconnect()
            self._seen = state
        if state is None:
            return News({}, afresh=True) if afresh else None
        try:
            return self._read(afresh=afresh)
        except (sqlite3.Error, msgspec.DecodeError, UnicodeError) as error:
            self._disconnect()
            raise _unreadable(self.path, error) from error

    def verify(self) -> None:
        """Raise if the file is damaged; nothing to do if there is none."""
        self.read_news()
        if self._connection is None:
            return
        try:
            (answer,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        except sqlite3.Error as error:
            raise _unreadable(self.path, error) from error
        if answer != "ok":
            raise _unreadable(self.path, ValueError(answer))

    @contextmanager
    def changing(self) -> Iterator[Records]:
        """Yield a dictionary; what the caller puts into it is saved at the end, unless an exception ends the block.

        Nobody else changes the file in the meantime.
        """
        records: Records = {}
        try:
            connection = self._connection_for_changes()
            with _transaction(connection):
                yield records
                _write(connection, records)
        except sqlite3.Error as error:
            raise _refuse(self.path, error) from error

    def leave_to_parent(self) -> None:
        """Give up the connection in a forked process, without closing it: SQLite allows neither use nor closing."""
        if self._connection is not None:
            _FORKED.append(self._connection)
        if self._close is not None:
            self._close.detach()
        self._connection = None
        self._forget()

    def _read(self, *, afresh: bool) -> News | None:
        connection = self._connect()
        data_version = connection.execute("PRAGMA data_version").fetchone()[0]
        if data_version == self._data_version:
            return None
        records: Records = {}
        rows = connection.execute(_READ, (self._version,)) if _check_format(connection, self.path) else ()
        for entity, version, record, checksum in rows:
            if checksum != _checksum(entity, version, record):
                raise sqlite3.DatabaseError(f"row {entity} is damaged")
            records[entity] = None if record is None else decode(record)
            self._version = version
        self._data_version = data_version
        return News(records, afresh=afresh)

    def _state(self) -> tuple[int, ...] | None:
        """Return what tells this file from another in its place; None: there is none, or it is still empty."""
        try:
            status = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        if not status.st_size:
            return None
        identity = status.st_dev, status.st_ino
        return identity if self._live else (*identity, status.st_size, status.st_mtime_ns)

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            connection, self._live = _open(self.path)
            self._keep(connection)
            self._seen = self._state()
        assert self._connection is not None
        return self._connection

    def _connection_for_changes(self) -> sqlite3.Connection:
        if not os.access(self.path if self.path.exists() else self.path.parent, os.W_OK):
            raise sqlite3.OperationalError("no permission to write")
        if self._connection is None:
            self._keep(_create(self.path))
            self._live = True
            self._seen = self._state()
        assert self._connection is not None
        return self._connection

    def _keep(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._close = weakref.finalize(self, connection.close)

    def _disconnect(self) -> None:
        if self._close is not None:
            self._close()
        self._connection = None
        self._forget()

    def _forget(self) -> None:
        self._close, self._seen, self._live, self._version, self._data_version = None, _NEVER, True, 0, None


def copy_overlay(source: Path, target: Path) -> None:
    """Copy the changes as they are at one moment, if there are any, whoever changes them meanwhile."""
    for leftover in (target, *(target.with_name(target.name + suffix) for suffix in ("-wal", "-shm"))):
        leftover.unlink(missing_ok=True)
    if not source.is_file():
        return
    try:
        original, _ = _open(source)
        copy = sqlite3.connect(target, isolation_level=None)
        try:
            original.backup(copy)
        finally:
            original.close()
            copy.close()
    except sqlite3.Error as error:
        raise KnowledgeBaseError(f"{source}: the changes cannot be copied to {target} ({error})") from error


def write_new(path: Path, records: Records) -> None:
    """Make a file of changes that is not there yet."""
    connection = _create(path)
    try:
        with _transaction(connection):
            _write(connection, records)
    finally:
        connection.close()


def _open(path: Path) -> tuple[sqlite3.Connection, bool]:
    """Open a file that is there, and say whether changes by others will be seen through the connection."""
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        connection = _connect(path, "mode=rw")
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection, True
    connection = _connect(path, "mode=ro")
    try:
        connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
        return connection, True
    except sqlite3.OperationalError:  # no shared memory there, and none can be made: nobody has it open for changes
        connection.close()
    return _connect(path, "immutable=1"), False


def _create(path: Path) -> sqlite3.Connection:
    connection = _connect(path, "mode=rwc")
    try:
        with _transaction(connection):
            if not _check_format(connection, path):
                for statement in _SCHEMA:
                    connection.execute(statement)
        with suppress(sqlite3.OperationalError):  # others have it open: the next one may; changes are only slower
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(path: Path, query: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{query}"
    return sqlite3.connect(uri, uri=True, timeout=LOCK_SECONDS, isolation_level=None, check_same_thread=False)


def _check_format(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether there is a table of changes already; refuse files of others, and of the future."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > FORMAT:
        raise KnowledgeBaseError(f"{path}: made by a newer parlink (format {version}); install a newer parlink")
    if version < FORMAT and connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        raise KnowledgeBaseError(f"{path}: not a file of changes, but a database of something else; give another file")
    return version == FORMAT


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _write(connection: sqlite3.Connection, records: Records) -> None:
    version = 1 + connection.execute("SELECT coalesce(max(version), 0) FROM changes").fetchone()[0]
    texts = {entity: encode(record).decode() if record else None for entity, record in records.items()}
    rows = ((entity, version, text, _checksum(entity, version, text)) for entity, text in texts.items())
    connection.executemany(_UPSERT, rows)


def _checksum(entity: int, version: int, record: str | None) -> int:
    return crc32(f"{entity} {version} {record}".encode())


def _refuse(path: Path, error: sqlite3.Error) -> KnowledgeBaseError:
    if "locked" in str(error):
        message = f"another process has been changing it for {LOCK_SECONDS:g} s; try again when it is done"
        return KnowledgeBaseError(f"{path}: {message}")
    message = f"the change cannot be saved ({error}), and was not made; free some space, or give another overlay file"
    return KnowledgeBaseError(f"{path}: {message}")


def _unreadable(path: Path, error: Exception) -> KnowledgeBaseError:
    if isinstance(error, sqlite3.OperationalError):
        return KnowledgeBaseError(f"{path}: the changes cannot be read ({error})")
    message = f"not a file of changes ({error}); restore it, or move it away to drop the changes"
    return KnowledgeBaseError(f"{path}: {message}")
