"""A KB folder is replaced by two renames; whoever opens it after a kill between them finishes the work.

.NAME.build/     where a new one is built; its `kb` is complete once `.NAME.old` is there
.NAME.old/       the one that is being replaced
"""

from __future__ import annotations

import shutil
from pathlib import Path

from filelock import FileLock, Timeout

LOCK_FILE = "lock"
_PATIENCE = 10.0  # seconds that a build may need between its two renames


def work_path(folder: Path) -> Path:
    """Return the folder in which `folder` is built."""
    return folder.with_name(f".{folder.name}.build")


def old_path(folder: Path) -> Path:
    """Return the name of what `folder` replaces, while it does."""
    return folder.with_name(f".{folder.name}.old")


def put_in_place(new: Path, folder: Path) -> None:
    """Let a complete folder take the place of another, or an empty one."""
    old = old_path(folder)
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def recover(folder: Path) -> None:
    """Finish what a build that was killed left undone; one that is still running is waited for."""
    work, old = work_path(folder), old_path(folder)
    if not old.exists():
        return
    work.mkdir(exist_ok=True)
    try:
        with FileLock(work / LOCK_FILE, timeout=_PATIENCE):
            finish(folder)
            shutil.rmtree(work, ignore_errors=True)
    except Timeout:
        return  # a new build is under way, and what it replaces is in place


def finish(folder: Path) -> None:
    """Do the second rename where only the first was done; the caller holds the lock."""
    new, old = work_path(folder) / "kb", old_path(folder)
    if old.exists() and not folder.exists():
        (new if new.exists() else old).rename(folder)
    shutil.rmtree(old, ignore_errors=True)
