"""Where files are, on the local disk or in any place that fsspec knows, and which ones are there."""

from __future__ import annotations

import glob
import re
from pathlib import Path
from typing import Any

_SCHEME = re.compile(r"((?:[a-z][a-z0-9+.-]*::)*[a-z][a-z0-9+.-]+):/+")


def remote_url(path: Path | str) -> str | None:
    """Return the fsspec URL that a path is, or None if it is local; of its two slashes `pathlib` leaves one."""
    name = str(path)
    match = _SCHEME.match(name)
    if match is None:
        return None
    return f"{match[1]}://{'/' if match[1] == 'file' else ''}{name[match.end() :]}"


def filesystem(path: Path | str) -> tuple[Any, str]:
    """Return the file system of a remote path, and the path as it calls it."""
    import fsspec

    place, name = fsspec.core.url_to_fs(remote_url(path))
    return place, name


def is_file(path: Path | str) -> bool:
    """Whether there is such a file."""
    if remote_url(path) is None:
        return Path(path).is_file()
    place, name = filesystem(path)
    return bool(place.isfile(name))


def is_folder(path: Path | str) -> bool:
    """Whether there is such a folder."""
    if remote_url(path) is None:
        return Path(path).is_dir()
    place, name = filesystem(path)
    return bool(place.isdir(name))


def list_folder(path: Path | str) -> list[str]:
    """Return the paths of the files in a folder, not of those in folders below."""
    if remote_url(path) is None:
        return [str(inside) for inside in Path(path).iterdir() if inside.is_file()]
    place, name = filesystem(path)
    entries = place.ls(name, detail=True)
    return [place.unstrip_protocol(entry["name"]) for entry in entries if entry["type"] == "file"]


def list_matches(pattern: Path | str) -> list[str]:
    """Return the paths of the files that a pattern such as `parts/*.jsonl.gz` matches."""
    if remote_url(pattern) is None:
        return [name for name in glob.glob(str(pattern), recursive=True) if Path(name).is_file()]  # noqa: PTH207
    place, name = filesystem(pattern)
    return [place.unstrip_protocol(match) for match in place.glob(name)]
