"""A model folder is replaced by two renames; whoever opens it after a kill between them finishes the work.

.NAME.partial/   where a new one is written; complete once `.NAME.old` is there
.NAME.old/       the one that is being replaced
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from parlink.errors import CheckpointError


@contextmanager
def replacing(folder: Path | str) -> Iterator[Path]:
    """A temporary folder that takes the place of `folder` when the block ends well, and vanishes when it does not."""
    folder = Path(folder)
    recover(folder)
    temporary, old = _beside(folder)
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        temporary.mkdir(parents=True)
        yield temporary
    except (OSError, SafetensorError) as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise CheckpointError(f"{folder}: cannot be written ({error}); what was there before is kept") from error
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    if folder.exists():
        folder.rename(old)
        finish(folder)
    else:
        temporary.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def recover(folder: Path) -> None:
    """Finish what a process that was killed while replacing the folder left undone, and clean up after it."""
    finish(folder)
    shutil.rmtree(_beside(folder)[1], ignore_errors=True)


def finish(folder: Path) -> None:
    """Do the second rename where only the first was done; somebody else may be doing the same."""
    temporary, old = _beside(folder)
    if folder.exists() or not old.exists():
        return
    try:
        (temporary if temporary.exists() else old).rename(folder)  # a new one is complete before the old one is moved
    except FileNotFoundError:
        return  # somebody else has done it
    except OSError as error:
        message = f"{folder}: was left half replaced, and cannot be put in place ({error.strerror})"
        raise CheckpointError(f"{message}; rename {temporary.name} to {folder.name}") from error


def _beside(folder: Path) -> tuple[Path, Path]:
    return folder.with_name(f".{folder.name}.partial"), folder.with_name(f".{folder.name}.old")
