from __future__ import annotations

from importlib.metadata import version

import pytest

import parlink
from parlink.linking.linker import Linker
from parlink.quick import _open_linker
from tiny_model import tiny_checkpoint


def test_the_version_is_that_of_the_package() -> None:
    assert parlink.__version__ == version("parlink")


def test_a_prompt_completes_what_is_imported_later() -> None:
    assert set(parlink.__all__) <= set(dir(parlink))


def test_the_model_is_opened_once_and_takes_what_a_linker_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny, opened = Linker(tiny_checkpoint(seed=3, spread=2.0)), []
    monkeypatch.setattr(Linker, "load", lambda: opened.append(tiny) or tiny)
    _open_linker.cache_clear()
    try:
        texts = ["Kent beat Hamburg.", {"text": "Paris", "id": "2"}]
        assert parlink.link("Kent beat Hamburg.") == tiny.link("Kent beat Hamburg.")
        assert parlink.link(texts) == tiny.link(texts)
        assert (
            parlink.link(texts, mention_threshold=-100.0)
            == tiny.link(texts, mention_threshold=-100.0)
            != tiny.link(texts)
        )
        assert len(opened) == 1
    finally:
        _open_linker.cache_clear()
