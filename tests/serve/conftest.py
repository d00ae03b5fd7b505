"""A tiny real linker, which most tests of the service share, and a service of its own for those of the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from page_service import make_model, serving
from parlink.linking.linker import Linker
from tiny_kb import tiny_kb
from tiny_model import tiny_checkpoint


@pytest.fixture(scope="module")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    kb = tiny_kb(tmp_path_factory.mktemp("serve"))
    return Linker(tiny_checkpoint(seed=3, spread=2.0), kb=kb, source=kb)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("page") / "model")


@pytest.fixture(scope="session")
def service(model: Path) -> Iterator[str]:
    with serving(model, "--text-characters", "2000") as address:
        yield address
