"""Flat arrays in one safetensors file: written once, memory-mapped by every reader."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_KINDS = {"U8": np.uint8, "U16": np.uint16, "U32": np.uint32, "U64": np.uint64}
_NAMES = {np.dtype(kind): name for name, kind in _KINDS.items()}
_LENGTH_BYTES = 8  # of the header, before it


def unsigned(values: Array) -> Array:
    """Return integers that are not negative in the smallest type that holds them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def write(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write one-dimensional arrays of unsigned integers; wide types come first, so that all are aligned."""
    header, offset = {}, 0
    ordered = sorted(arrays.items(), key=lambda item: -item[1].itemsize)
    for name, array in ordered:
        end = offset + array.nbytes
        header[name] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [offset, end]}
        offset = end
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    with path.open("wb") as file:
        file.write(len(head).to_bytes(_LENGTH_BYTES, "little") + head)
        for _, array in ordered:
            file.write(np.ascontiguousarray(array).data)


def open_mapped(path: Path) -> dict[str, Array]:
    """Map the arrays of a file; nothing is read until it is used. Raises ValueError if it is not such a file."""
    with path.open("rb") as file:
        header, begin = _header(file)
    whole: Array = np.asarray(np.memmap(path, mode="r", dtype=np.uint8))
    try:
        return {name: _view(whole[begin:], entry) for name, entry in header.items() if name != "__metadata__"}
    except (KeyError, TypeError) as error:
        raise ValueError(f"broken header: {error}") from error


def _header(file: BinaryIO) -> tuple[dict[str, Any], int]:
    length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
    head = file.read(length) if length < 1 << 20 else b""
    if len(head) != length or not length:
        raise ValueError("the file is cut off")
    return json.loads(head), _LENGTH_BYTES + length


def _view(data: Array, entry: dict[str, Any]) -> Array:
    start, end = entry["data_offsets"]
    if end > len(data):
        raise ValueError("the file is cut off")
    return data[start:end].view(_KINDS[entry["dtype"]]).reshape(entry["shape"])
