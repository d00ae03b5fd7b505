"""Real headless Chromium for tests of pages, and what tests ask of every page."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from selenium_axe_python import Axe

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
NEEDED = "need chromium and chromedriver"
needs_chromium = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=NEEDED)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1200,900"
)
Browser = webdriver.Chrome


@contextmanager
def running_chromium(profile: Path) -> Iterator[Browser]:
    """A browser with a profile of its own."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS.split(), f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(DRIVER)))
    driver.set_script_timeout(120)  # axe over a long page, on a machine that does much else
    try:
        yield driver
    finally:
        driver.quit()


@contextmanager
def screen(page: Browser, width: int, height: int = 800, *, scheme: str = "light", media: str = "") -> Iterator[None]:
    """Look at a page on a screen of this size, in light or dark, or as it would be printed."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features, "media": media})
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        yield
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [], "media": ""})


def at(page: Browser, name: str) -> Any:
    return page.find_element(By.ID, name)


def until(page: Browser, condition: Callable[[Browser], Any]) -> Any:
    return WebDriverWait(page, 15, poll_frequency=0.05).until(condition)


def overflow(page: Browser) -> int:
    """How many pixels the page is wider than the screen."""
    script = "const root = document.documentElement; return root.scrollWidth - root.clientWidth"
    return int(page.execute_script(script))


def complaints(page: Browser) -> list[str]:
    """What axe-core finds wrong with the page as it stands; animations are over before it looks."""
    page.execute_script("for (const one of document.getAnimations()) one.finish()")
    axe = Axe(page)
    axe.inject()
    violations = axe.run()["violations"]
    return [json.dumps([v["id"], [(n["html"], n.get("failureSummary")) for n in v["nodes"][:3]]]) for v in violations]
