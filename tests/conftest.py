"""Settings for all tests: a busy machine is no reason for a property to fail. One browser for all pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from chromium import NEEDED, Browser, running_chromium

settings.register_profile("parlink", deadline=None)
settings.load_profile("parlink")


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with running_chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


def pytest_addoption(parser: pytest.Parser) -> None:
    """How long the load test of tests/slow takes."""
    parser.addoption("--load-seconds", type=float, default=300.0, help="duration of tests/slow/test_load.py")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Say in the very last line how many tests of pages were left out because there is no browser."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    number = sum(NEEDED in str(report.longrepr) for report in skipped)
    if number:
        print(f"NOT TESTED: {number} tests of pages {NEEDED}; as root: apt-get install chromium chromium-driver")
