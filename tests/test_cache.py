"""The cache folder: one for all of parlink."""

from __future__ import annotations

from pathlib import Path

import pytest
from platformdirs import user_cache_path

from parlink.cache import user_cache


def test_the_users_choice_wins_over_the_systems(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("PARLINK_CACHE", raising=False)
    assert user_cache() == user_cache_path("parlink", appauthor=False)
    monkeypatch.setenv("PARLINK_CACHE", str(tmp_path / "ours"))
    assert user_cache() == tmp_path / "ours" / "parlink"
