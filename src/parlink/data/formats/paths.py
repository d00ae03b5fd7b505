"""The files that a path stands for: itself, those of a folder, or those that a pattern matches, in order of name."""

from __future__ import annotations

import re
from pathlib import Path

from parlink.data import files, places
from parlink.errors import DataFormatError

_PATTERN = frozenset("*?[")


def expand(path: Path | str) -> list[str]:
    """Return the files of a folder or of a pattern such as `parts/*.jsonl.gz`; a folder of brat documents is one.

    They are in order of name, where `part-2` comes before `part-10`. Names that begin with a dot or an
    underscore are passed over, as Spark and Hadoop have it.
    """
    name = str(path)
    if name == files.STANDARD_STREAM or places.is_file(path):
        return [name]
    if places.is_folder(path):
        names = places.list_folder(path)
        if any(Path(inside).suffix == ".ann" for inside in names):
            return [name]
    elif _PATTERN & set(name):
        names = places.list_matches(path)
    else:
        return [name]
    visible = sorted((inside for inside in names if not Path(inside).name.startswith((".", "_"))), key=_by_number)
    if not visible:
        raise DataFormatError("no file in it, or none that matches; give files of documents", path=path)
    return visible


def _by_number(name: str) -> list[tuple[int, str]]:
    """Sort the numbers in names by their value."""
    return [(int(piece), piece) if piece.isdecimal() else (-1, piece) for piece in re.split(r"(\d+)", name)]
