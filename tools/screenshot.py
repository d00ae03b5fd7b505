"""Take the picture of the page that README and site show: `python tools/screenshot.py [docs/images/page.png]`."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from selenium.webdriver.common.by import By

from chromium import running_chromium, screen, until
from page_service import link, open_page, serving
from parlink.checkpoint.config_file import packaged_model

TEXT = """Microsoft, which Bill Gates and Paul Allen founded in Albuquerque, bought GitHub for 7.5 billion dollars.

Cristiano Ronaldo, who was born in Madeira, left Manchester United for Real Madrid, and later for Juventus.

Angela Merkel and Tony Blair watched in Berlin as Real Madrid beat Liverpool in the final in Paris."""
CARD = "Liverpool"
PICTURE = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images" / "page.png"

with (
    TemporaryDirectory() as profile,
    running_chromium(Path(profile)) as page,
    serving(packaged_model()) as address,
    screen(page, 1180, 1100),  # so high that the card is whole
):
    page.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
    link(open_page(page, address), TEXT)
    until(page, lambda page: page.find_elements(By.CSS_SELECTOR, "#article .mention"))
    (mention,) = [item for item in page.find_elements(By.CSS_SELECTOR, "#article .mention") if item.text == CARD]
    mention.click()
    until(page, lambda page: "Pinned" in page.page_source)
    opacity = "return getComputedStyle(document.querySelector('.card')).opacity"
    until(page, lambda page: page.execute_script(opacity) == "1")
    page.save_screenshot(str(PICTURE))
