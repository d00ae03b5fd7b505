"""Settings for all tests: a busy machine is no reason for a property to fail."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("parlink", deadline=None)
settings.load_profile("parlink")
