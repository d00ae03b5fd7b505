"""How many tokens are encoded together."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from parlink.linking.batch_tokens import FEWEST, MOST, USUAL, choose_batch_tokens, last_cache
from parlink.model_config import EncoderConfig
from tiny_model import ENCODER

SMALL = structs.replace(ENCODER, hidden=384, intermediate=1536)
BASE = structs.replace(ENCODER, hidden=768, intermediate=3072)
MB = 1 << 20


@pytest.mark.parametrize(
    ("encoder", "cache", "tokens"),
    [
        (SMALL, 32 * MB, 2048),
        (SMALL, 2 * MB, FEWEST),
        (SMALL, 1024 * MB, MOST),
        (SMALL, None, USUAL),
        (BASE, 32 * MB, FEWEST),
        (BASE, 105 * MB, 3328),
    ],
)
def test_a_batch_fits_into_the_cache_beside_the_weights_of_a_layer(
    encoder: EncoderConfig, cache: int | None, tokens: int
) -> None:
    assert choose_batch_tokens(encoder, cache=cache) == tokens


@pytest.mark.parametrize(
    ("sizes", "cache"),
    [(["48K", "1024K", "32768K"], 32 * MB), (["2M"], 2 * MB), (["many"], None), ([""], None), ([], None)],
)
def test_the_largest_cache_that_is_told_of_counts(tmp_path: Path, sizes: list[str], cache: int | None) -> None:
    for number, size in enumerate(sizes):
        (tmp_path / f"index{number}").mkdir()
        (tmp_path / f"index{number}" / "size").write_text(f"{size}\n")
    assert last_cache(tmp_path) == cache


def test_a_system_that_tells_of_no_caches_is_no_error(tmp_path: Path) -> None:
    assert last_cache(tmp_path / "none") is None
