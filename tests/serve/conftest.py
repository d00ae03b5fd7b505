"""A tiny real linker, which most tests of the service share."""

from __future__ import annotations

import pytest

from parlink.linking.linker import Linker
from tiny_kb import tiny_kb
from tiny_model import tiny_checkpoint


@pytest.fixture(scope="module")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    kb = tiny_kb(tmp_path_factory.mktemp("serve"))
    return Linker(tiny_checkpoint(seed=3, spread=2.0), kb=kb, source=kb)
