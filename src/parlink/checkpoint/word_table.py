"""A table of vectors by token, mapped into memory as it lies on disk: only the rows that are used are read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parlink.errors import CheckpointError

Integers = NDArray[np.int64]
Floats = NDArray[np.float32]
_ROWS = 4096  # widened at once


@dataclass(frozen=True, slots=True)
class WordTable:
    """Vectors in float32 or float16, or in whole numbers with a scale per row."""

    vectors: NDArray[Any]  # (vocabulary, hidden)
    scale: Floats | None = None  # (vocabulary, 1)

    @classmethod
    def open(cls, path: Path, *, shape: tuple[int, int]) -> WordTable:
        """Map a table, and its scales if there are some."""
        scales = path.with_name(f"{path.stem}_scale.npy")
        vectors = map_array(path, shape)
        return cls(vectors, map_array(scales, (shape[0], 1)) if vectors.dtype == np.int8 else None)

    def rows(self, tokens: Integers | slice) -> Floats:
        """The vectors of tokens, (tokens, hidden)."""
        rows: Floats = self.vectors[tokens].astype(np.float32)
        return rows if self.scale is None else rows * self.scale[tokens]

    def log_normalizers(self, features: Floats, bias: Floats) -> Floats:
        """Log-sum-exp of the product of features with every row, (states,); some rows at a time."""
        log_z = np.full(len(features), -np.inf, np.float32)
        for first in range(0, len(self.vectors), _ROWS):
            some = slice(first, first + _ROWS)
            logits = features @ self.rows(some).T + bias[some]
            largest = logits.max(1)
            log_z = np.logaddexp(log_z, largest + np.log(np.exp(logits - largest[:, None]).sum(1)))
        return log_z


def map_array(path: Path, shape: tuple[int, ...]) -> NDArray[Any]:
    """Map an array of numbers that a model folder must have, of this shape."""
    try:
        array = np.asarray(np.load(path, mmap_mode="r"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: cannot be read ({error}); export the model again") from error
    if array.shape != shape or array.dtype not in (np.int8, np.float16, np.float32):
        raise CheckpointError(
            f"{path}: has shape {array.shape} of {array.dtype}, wanted {shape}; export the model again"
        )
    return array
