"""The processes that a test has started, so that it can kill one of them; none but those."""

from __future__ import annotations

import os
from pathlib import Path


def descendants(*words: str) -> list[int]:
    """The running processes below this one whose command line holds all of the words, oldest first."""
    parents = {int(folder.name): _parent(folder) for folder in Path("/proc").iterdir() if folder.name.isdecimal()}
    return sorted(
        process
        for process in parents
        if _is_below(process, parents) and all(word in _command_line(process) for word in words)
    )


def parent_of(process: int) -> int:
    return _parent(Path(f"/proc/{process}"))


def _is_below(process: int, parents: dict[int, int]) -> bool:
    while process in parents and process > 1:
        process = parents[process]
        if process == os.getpid():
            return True
    return False


def _parent(folder: Path) -> int:
    try:
        return int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def _command_line(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
