"""The folder beside a knowledge base in which it is built: one build at a time, cleaned by the next."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from parlink.errors import KnowledgeBaseError
from parlink.kb.recovery import LOCK_FILE, finish, work_path


@contextmanager
def open_work_folder(target: Path) -> Iterator[Path]:
    """Make a folder beside the target that is gone in the end, whatever happens; a full disk is a plain error."""
    try:
        with _locked(work_path(target)) as work:
            try:
                finish(target)
                _clear(work)
                yield work
            finally:
                shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        message = f"{target}: cannot be written ({error.strerror or error}), and nothing was left behind; "
        raise KnowledgeBaseError(message + "free some space, or choose another folder") from error


@contextmanager
def _locked(work: Path) -> Iterator[Path]:
    work.mkdir(parents=True, exist_ok=True)
    lock = FileLock(work / LOCK_FILE, timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        message = f"{work}: another build of this knowledge base is under way; wait for it, or choose another folder"
        raise KnowledgeBaseError(message) from error
    with lock:
        yield work


def _clear(work: Path) -> None:
    """Remove what a build that was killed has left."""
    for entry in work.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        elif entry.name != LOCK_FILE:
            entry.unlink()
