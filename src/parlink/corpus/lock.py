"""One run an output: a lock that ends with its process, and says who holds it."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from parlink.data import files
from parlink.errors import ParlinkError


@contextmanager
def hold(folder: Path, output: str) -> Iterator[None]:
    """Hold a folder while the block runs; another process that tries is told who does."""
    owner = folder / "owner"
    lock = FileLock(folder / "lock")
    with files.refuse(output):
        (folder / "lock").touch()
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        who = owner.read_text() if owner.exists() else "another process"
        raise ParlinkError(f"{output}: is being written by {who}; wait for it, or choose another output") from error
    try:
        since = datetime.now().isoformat(sep=" ", timespec="seconds")
        with files.refuse(output):
            owner.write_text(f"process {os.getpid()} on {socket.gethostname()} since {since}")
        yield
        owner.unlink(missing_ok=True)
    finally:
        lock.release()
