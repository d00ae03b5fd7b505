"""Flat arrays in one safetensors file: written once, memory-mapped by every reader."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

Array = NDArray[Any]

_TYPES = {"U8": np.uint8, "U16": np.uint16, "U32": np.uint32, "U64": np.uint64}
SHARED = 16  # groups that share a start
VALUES = "_values"  # ends the name of what the numbers of a column stand for
_MOST_DISTINCT = 256
_LENGTH_BYTES = 8  # of the header, before it


def unsigned(values: Array) -> Array:
    """Return integers that are not negative in the smallest type that holds them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def encode(name: str, values: Array) -> dict[str, Array]:
    """Return a column of few distinct values as their numbers, and the values beside it; others as they are.

    Smaller by a third, packed.
    """
    distinct = np.unique(values)
    if values.dtype.itemsize == 1 or len(distinct) > _MOST_DISTINCT:
        return {name: values}
    return {name: np.searchsorted(distinct, values).astype(np.uint8), f"{name}{VALUES}": distinct}


@dataclass(frozen=True, slots=True)
class Column:
    """A column as it was before `encode`; a number that stands for nothing is a ValueError."""

    numbers: Array
    values: Array | None  # what the numbers stand for; None: for themselves

    @classmethod
    def of(cls, arrays: Mapping[str, Array], name: str) -> Column:
        """Find a column among the arrays of a file; raises KeyError if it is not there."""
        return cls(arrays[name], arrays.get(f"{name}{VALUES}"))

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: slice | Array) -> Array:
        numbers: Array = self.numbers[rows]
        if self.values is None:
            return numbers
        if numbers.max(initial=0) >= len(self.values):
            raise ValueError("a number of a column stands for nothing")
        return self.values[numbers]


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows in groups, one after the other: where every sixteenth begins, and how many rows each has.

    Half the size, packed, of a column that says where each of them begins.
    """

    start: Array  # (groups / 16,)
    many: Array  # (groups,)

    @classmethod
    def of(cls, many: Array) -> Groups:
        """Make the columns of groups of so many rows."""
        counts = many.astype(np.int64)
        return cls(unsigned((np.cumsum(counts) - counts)[::SHARED]), unsigned(counts))

    def __len__(self) -> int:
        """Return how many groups there are; raises ValueError if the columns do not fit."""
        if self.start.shape != (-(-len(self.many) // SHARED),):
            raise ValueError(f"{self.start.shape} starts for {len(self.many)} groups")
        return len(self.many)

    def range(self, group: int) -> tuple[int, int]:
        """Return the first row of a group, and the first after it."""
        block = group // SHARED
        first = int(self.start[block]) + sum(self.many[block * SHARED : group].tolist())
        return first, first + int(self.many[group])

    def ranges(self, groups: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return `range` of each of some groups: (groups,) each."""
        within = groups % SHARED
        block = (groups - within)[:, None] + np.arange(SHARED)
        before = np.where(np.arange(SHARED) < within[:, None], self.many[np.minimum(block, len(self.many) - 1)], 0)
        first = self.start[groups // SHARED].astype(np.int64) + before.sum(1, dtype=np.int64)
        return first, first + self.many[groups]


def write(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write one-dimensional arrays of unsigned integers; `save_file` would make a file that only its owner may read."""
    path.touch()
    mode = path.stat().st_mode
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path)
    path.chmod(mode)


def open_mapped(path: Path) -> dict[str, Array]:
    """Map the arrays of a file; nothing is read until it is used. Raises ValueError if it is not such a file.

    `safe_open` checks that the arrays are within the file and do not overlap, but it would copy them.
    """
    try:
        with safe_open(path, framework="np"):
            pass
    except SafetensorError as error:
        raise ValueError(f"{path.name}: {error}") from error
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        header = json.loads(file.read(length))
    whole: Array = np.asarray(np.memmap(path, mode="r", dtype=np.uint8))
    data = whole[_LENGTH_BYTES + length :]
    return {name: _view(data, entry) for name, entry in header.items() if name != "__metadata__"}


def _view(data: Array, entry: dict[str, Any]) -> Array:
    start, end = entry["data_offsets"]
    if entry["dtype"] not in _TYPES:
        raise ValueError(f"an array of {entry['dtype']}, wanted unsigned integers")
    return data[start:end].view(_TYPES[entry["dtype"]]).reshape(entry["shape"])
