"""The folder beside a knowledge base in which it is built: one build at a time, cleaned by the next."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from parlink.errors import KnowledgeBaseError
from parlink.kb import recovery
from parlink.kb.build.gather import DONE_FILE
from parlink.kb.recovery import LOCK_FILE, finish, work_path


@contextmanager
def open_work_folder(target: Path, *, resume: bool = False) -> Iterator[Path]:
    """Make a folder beside the target that is gone in the end, or when anything fails; a full disk is a plain error.

    An interrupt or a kill leaves the parts that are complete, for the next build to clear, or to `resume`.
    """
    try:
        with _lock(work_path(target)) as work:
            try:
                finish(target)
                _clear(work, keep_parts=resume)
                yield work
            except KeyboardInterrupt:
                _clear(work, keep_parts=True)
                if _is_empty(work):
                    _remove(work)
                raise
            except BaseException:
                _remove(work)
                raise
            _remove(work)
    except OSError as error:
        message = f"{target}: cannot be written ({error.strerror or error}), and nothing was left behind; "
        raise KnowledgeBaseError(message + "free some space, or choose another folder") from error


def put_in_place(work: Path, target: Path) -> None:
    """Let what was built take its place; what it was made of is needed no more."""
    for entry in work.iterdir():
        if entry.is_dir() and entry.name != "kb":
            _remove(entry)
        elif entry.is_file() and entry.name != LOCK_FILE:
            entry.unlink()
    recovery.put_in_place(work / "kb", target)


def remove_remains(target: Path) -> None:
    """Remove what a build leaves that is killed when all is done but the cleaning; one that runs has the lock."""
    work = work_path(target)
    if target.exists() and work.is_dir() and _is_empty(work):
        with suppress(Timeout), FileLock(work / LOCK_FILE, timeout=0):
            _remove(work)


@contextmanager
def _lock(work: Path) -> Iterator[Path]:
    work.mkdir(parents=True, exist_ok=True)
    lock = FileLock(work / LOCK_FILE, timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        message = f"{work}: another build of this knowledge base is under way; wait for it, or choose another folder"
        raise KnowledgeBaseError(message) from error
    with lock:
        yield work


def _clear(work: Path, *, keep_parts: bool) -> None:
    """Remove what a build that was stopped has left, but for complete parts if these are to be kept."""
    for entry in work.iterdir():
        if keep_parts and (entry / DONE_FILE).is_file():
            continue
        if entry.is_dir():
            _remove(entry)
        elif entry.name != LOCK_FILE:
            entry.unlink()


def _remove(folder: Path) -> None:
    """Remove a part, or all of them; first what says that a part is complete, so that a kill in between is seen."""
    with suppress(OSError):
        for done in folder.rglob(DONE_FILE):
            done.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def _is_empty(work: Path) -> bool:
    return all(entry.name == LOCK_FILE for entry in work.iterdir())
