"""The folder where parlink keeps what it can make or fetch again."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path


def user_cache() -> Path:
    """Return the user's cache folder for parlink: in `PARLINK_CACHE` if that is set, else where the system has it."""
    home = os.environ.get("PARLINK_CACHE")
    return Path(home) / "parlink" if home else user_cache_path("parlink", appauthor=False)
