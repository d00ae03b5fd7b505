"""A real `parlink serve` with a tiny real model for tests of its page, and what they do there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chromium import Browser, at, until
from parlink import Document
from parlink.checkpoint.folder import Checkpoint, save_checkpoint
from parlink.config import Tuned
from tiny_kb import LINES, tiny_folder
from tiny_model import tiny_checkpoint

HOSTILE = "<img src=x onerror=window.pwned=1>"
TEXT = (
    f"\N{GRINNING FACE} Zu\u0308rich, e\u0301t\u00e9 \N{FULL MOON SYMBOL} and Kent {HOSTILE} "
    "</article><script>window.pwned=1</script>\n\nHSV won."
)


def make_model(folder: Path) -> Path:
    """A model that links every mention to some title of a knowledge base, one of which is hostile."""
    checkpoint = tiny_checkpoint(seed=4, spread=2.0)
    tuned = Tuned(mention_threshold=0.1, fallback=True)
    save_checkpoint(folder, Checkpoint(checkpoint.model, checkpoint.tokenizer, tuned), card="tiny")
    tiny_folder(folder, [*LINES, {"title": HOSTILE, "count": 9}], url_template="https://example.org/{title}")
    return folder


@contextmanager
def serving(model: Path, *options: str) -> Iterator[str]:
    command = [sys.executable, "-m", "parlink", "serve", "--model", str(model), "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if address := re.search(r"parlink is at (\S+)", line):
                yield address[1]
                return
        raise AssertionError("the service did not start")
    finally:
        process.terminate()
        process.stderr.read()
        process.wait(20)
        process.stderr.close()


def open_page(browser: Browser, address: str) -> Browser:
    browser.get("about:blank")  # else a change of the fragment alone would not load the page again
    browser.get(address)
    browser.get_log("browser")
    return browser


def link(page: Browser, text: str) -> None:
    page.execute_script("document.getElementById('text').value = arguments[0]", text)
    at(page, "link").click()
    until(page, lambda page: at(page, "result").is_displayed())


def shown(page: Browser) -> list[tuple[str, str | None]]:
    """Surface and title of the mentions on the page."""
    script = (
        "return [...document.querySelectorAll('.mention')].map((m) => [m.textContent, m.getAttribute('aria-label')])"
    )
    pairs = [(surface, label.removeprefix(f"{surface}: ")) for surface, label in page.execute_script(script)]
    return [(surface, None if title == "not linked" else title) for surface, title in pairs]


def titles(doc: Document) -> list[tuple[str, str | None]]:
    """Surface and title of the links of a document."""
    return [(doc.text[link.span.start : link.span.end], link.title) for link in doc.links]


def slide(page: Browser, value: float) -> float:
    """Move the slider; returns where it landed."""
    script = """const slider = document.getElementById('confidence'); slider.value = arguments[0];
        slider.dispatchEvent(new Event('input')); return Number(slider.value)"""
    return float(page.execute_script(script, value))
