"""How many tokens are encoded together: as many as the last cache of the processor holds beside a layer's weights.

A batch that falls out of the cache takes longer for each token, and a small one multiplies small matrices. What a
document gets does not depend on it, but for the last digits of scores.
"""

from __future__ import annotations

from pathlib import Path

from parlink.model_config import EncoderConfig

FEWEST, USUAL, MOST, STEP = 1024, 2048, 4096, 256
NUMBER = 4  # bytes
UNITS = {"K": 1 << 10, "M": 1 << 20}
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")  # where Linux tells of them


def choose_batch_tokens(encoder: EncoderConfig, *, cache: int | None) -> int:
    """Choose by the bytes of the last cache; None: nobody tells them."""
    if cache is None:
        return USUAL
    weights = NUMBER * encoder.hidden * (4 * encoder.hidden + 2 * encoder.intermediate)  # of a layer
    token = NUMBER * 2 * encoder.intermediate  # what is widest: before GELU, and behind it
    tokens = (cache - weights) // token // STEP * STEP
    return min(max(tokens, FEWEST), MOST)


def last_cache(folder: Path = CACHES) -> int | None:
    """The bytes of the largest cache that the system tells of; None if it tells of none."""
    try:
        sizes = [path.read_text().strip() for path in folder.glob("index*/size")]
        return max((int(size[:-1]) * UNITS[size[-1]] for size in sizes), default=None)
    except (OSError, ValueError, KeyError, IndexError):  # told in another way
        return None
