"""The web page in real headless Chromium, against a real `parlink serve` with a tiny real model."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from parlink import Document, Linker, LinkOptions, Span
from parlink.checkpoint.folder import Checkpoint, save_checkpoint
from parlink.config import Tuned
from parlink.linking.overlaps import resolve_overlaps
from tiny_kb import LINES, tiny_folder
from tiny_model import tiny_checkpoint

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs chromium and chromedriver")

HOSTILE = "<img src=x onerror=window.pwned=1>"
TEXT = (
    f"\N{GRINNING FACE} Zu\u0308rich, e\u0301t\u00e9 \N{FULL MOON SYMBOL} and Kent {HOSTILE} "
    "</article><script>window.pwned=1</script>\n\nHSV won."
)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-context-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1200,900"
)
Browser = webdriver.Chrome


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that links every mention to some title of a knowledge base, one of which is hostile."""
    folder = tmp_path_factory.mktemp("page") / "model"
    made = tiny_checkpoint(seed=4, spread=2.0)
    save_checkpoint(
        folder, Checkpoint(made.model, made.tokenizer, Tuned(mention_threshold=0.1, fallback=True)), card="tiny"
    )
    tiny_folder(folder, [*LINES, {"title": HOSTILE, "count": 9}], url_template="https://example.org/{title}")
    return folder


@contextmanager
def serving(model: Path, *options: str) -> Iterator[str]:
    command = [sys.executable, "-m", "parlink", "serve", "--model", str(model), "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if found := re.search(r"parlink is at (\S+)", line):
                yield found[1]
                return
        raise AssertionError("the service did not start")
    finally:
        process.terminate()
        process.stderr.read()
        process.wait(20)
        process.stderr.close()


@pytest.fixture(scope="module")
def service(model: Path) -> Iterator[str]:
    with serving(model, "--text-characters", "2000") as address:
        yield address


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(DRIVER)))
    yield driver
    driver.quit()


@pytest.fixture
def page(chromium: Browser, service: str) -> Iterator[Browser]:
    yield opened(chromium, service)
    assert not chromium.execute_script("return window.pwned")


def opened(browser: Browser, address: str) -> Browser:
    browser.get(address)
    browser.get_log("browser")
    return browser


def at(page: Browser, name: str) -> Any:
    return page.find_element(By.ID, name)


def until(page: Browser, condition: Callable[[Browser], Any]) -> Any:
    return WebDriverWait(page, 15, poll_frequency=0.05).until(condition)


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


def wanted(doc: Document) -> list[tuple[str, str | None]]:
    return [(doc.text[one.span.start : one.span.end], one.title) for one in doc.links]


def slide(page: Browser, value: float) -> float:
    """Move the threshold; returns where it landed."""
    script = """const slider = document.getElementById('threshold'); slider.value = arguments[0];
        slider.dispatchEvent(new Event('input')); return Number(slider.value)"""
    return float(page.execute_script(script, value))


def test_links_are_in_place_whatever_the_characters(page: Browser, model: Path) -> None:
    link(page, TEXT)
    assert page.execute_script("return document.getElementById('article').textContent") == TEXT
    assert len(shown(page)) > 3
    assert shown(page) == wanted(Linker.load(model).link(TEXT))
    assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_the_threshold_gives_what_the_linker_gives_without_a_request(page: Browser, model: Path) -> None:
    link(page, TEXT)
    linker, requests = Linker.load(model), "return performance.getEntriesByType('resource').length"
    before, seen = page.execute_script(requests), set()
    low, high = (float(at(page, "threshold").get_attribute(name)) for name in ("min", "max"))
    for step in range(12):
        value = slide(page, low + 0.07 + step * (high - low) / 12)
        mentions = shown(page)
        assert mentions == wanted(linker.link(TEXT, options=LinkOptions(mention_threshold=value)))
        seen.add(len(mentions))
    assert len(seen) > 2
    assert page.execute_script(requests) == before
    at(page, "reset").click()
    assert shown(page) == wanted(linker.link(TEXT))


def test_overlaps_are_resolved_as_in_python(page: Browser) -> None:
    rng = random.Random(7)
    cases = []
    for _ in range(200):
        starts = [rng.randrange(20) for _ in range(rng.randrange(12))]
        spans = sorted({Span(start, start + rng.randrange(1, 6)) for start in starts})
        cases.append([(span, rng.choice((0.0, 0.25, 0.5, rng.random(), 1.5 * 2**-41))) for span in spans])
    plain = [[{"start": s.start, "end": s.end, "mention_probability": p} for s, p in case] for case in cases]
    script = """const [cases, done] = arguments; import('/static/links.js').then((links) =>
        done(cases.map((one) => links.resolveOverlaps(one).map((link) => [link.start, link.end]))))"""
    found = page.execute_async_script(script, plain)
    for case, kept in zip(cases, found, strict=True):
        spans = [span for span, _ in case]
        assert [Span(*pair) for pair in kept] == resolve_overlaps(spans, spans, [p for _, p in case])


def test_the_keyboard_is_enough(page: Browser) -> None:
    at(page, "text").send_keys("HSV lost to Kent", Keys.CONTROL, Keys.ENTER)
    until(page, lambda page: at(page, "result").is_displayed())
    assert page.switch_to.active_element.get_attribute("id") == "article"
    page.switch_to.active_element.send_keys(Keys.TAB)
    focused = page.switch_to.active_element
    assert "mention" in focused.get_attribute("class")
    card = page.find_element(By.CLASS_NAME, "card")
    heads = [head.get_property("textContent") for head in card.find_elements(By.CSS_SELECTOR, "thead th")]
    assert heads == ["Candidate", "Prior", "Generative", "Classifier", "Score"]
    assert focused.get_attribute("aria-describedby") == card.get_attribute("id")
    focused.send_keys(Keys.TAB)  # into the card, whose candidates are links
    assert page.switch_to.active_element.get_attribute("href").startswith("https://example.org/")
    page.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert page.find_elements(By.CLASS_NAME, "card") == []


def test_the_mouse_opens_the_card(page: Browser) -> None:
    link(page, TEXT)
    webdriver.ActionChains(page).move_to_element(page.find_element(By.CSS_SELECTOR, "a.mention")).perform()
    assert page.find_element(By.CSS_SELECTOR, ".card .chosen").get_property("textContent")
    webdriver.ActionChains(page).move_to_element(at(page, "summary")).perform()
    until(page, lambda page: not page.find_elements(By.CLASS_NAME, "card"))


def test_names_and_addresses_are_hostile_and_nothing_runs(page: Browser) -> None:
    doc = {"text": TEXT, "links": [{"start": 0, "end": 1, "title": HOSTILE, "url": "javascript:window.pwned=1"}]}
    script = """const [doc, done] = arguments;
        Promise.all([import('/static/download.js'), import('/static/article.js')]).then(([download, { Article }]) => {
            const article = document.createElement('p');
            document.getElementById('main').append(article);
            new Article(article).show(doc.text, doc.links);
            article.querySelector('.mention').focus();
            done([download.toHtml(doc), document.querySelectorAll('main img, main script, a[href^=java]').length])
        })"""
    html, elements = page.execute_async_script(script, doc)
    assert elements == 0
    assert "<script" not in html and "<img" not in html and "javascript:" not in html
    assert page.find_element(By.CLASS_NAME, "card-title").get_property("textContent") == HOSTILE


def test_downloads_hold_what_is_shown(page: Browser, tmp_path: Path) -> None:
    page.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    link(page, TEXT)
    for name in ("json", "html"):
        at(page, name).click()
        until(page, lambda _, name=name: (tmp_path / f"linked.{name}").is_file())
    doc = json.loads((tmp_path / "linked.json").read_bytes())
    assert doc["text"] == TEXT
    assert [(TEXT[one["start"] : one["end"]], one["title"]) for one in doc["links"]] == shown(page)
    assert (tmp_path / "linked.html").read_text().count('class="mention') == len(shown(page))


def test_files_are_read(page: Browser, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text(TEXT, encoding="utf-8")
    at(page, "file").send_keys(str(tmp_path / "note.txt"))
    until(page, lambda page: at(page, "text").get_property("value") == TEXT)
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\x00")
    at(page, "file").send_keys(str(tmp_path / "bad.txt"))
    assert until(page, lambda page: at(page, "error").text) == "bad.txt is not a text in UTF-8."
    drop = """const data = new DataTransfer(); data.items.add(new File(['dropped'], 'a.txt'));
        document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }))"""
    page.execute_script(drop)
    until(page, lambda page: at(page, "text").get_property("value") == "dropped")


def test_an_error_is_a_red_line(page: Browser) -> None:
    page.execute_script("document.getElementById('text').value = 'a '.repeat(1500)")
    at(page, "link").click()
    said = until(page, lambda page: at(page, "error").text)
    assert said.startswith("The text is too long for this service (413)")
    assert at(page, "text").is_displayed()


def test_a_key_is_asked_for_only_when_it_is_needed_and_a_lost_service_is_told(chromium: Browser, model: Path) -> None:
    key = "a-key-for-tests-only"
    with serving(model, "--api-key", key) as address:
        page = opened(chromium, address)
        assert not at(page, "key-form").is_displayed()
        at(page, "text").send_keys("Kent", Keys.CONTROL, Keys.ENTER)
        until(page, lambda page: at(page, "key-form").is_displayed())
        at(page, "key").send_keys("wrong", Keys.ENTER)
        until(page, lambda page: "401" in at(page, "error").text)
        at(page, "key").clear()
        at(page, "key").send_keys(key, Keys.ENTER)
        until(page, lambda page: at(page, "result").is_displayed())
        at(page, "edit").click()
    at(page, "link").click()
    assert "cannot be reached" in until(page, lambda page: at(page, "error").text)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_narrow_screens_and_color_schemes(page: Browser, scheme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    size = {"width": 360, "height": 700, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        link(page, f"{TEXT}\n" * 5)  # so long that there is a scroll bar
        for mention in page.find_elements(By.CSS_SELECTOR, "a.mention")[:8]:
            page.execute_script("arguments[0].focus()", mention)
            assert page.find_elements(By.CLASS_NAME, "card")
            assert (
                page.execute_script("const root = document.documentElement; return root.scrollWidth - root.clientWidth")
                == 0
            )
        ground = page.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (int(re.findall(r"\d+", ground)[0]) < 128) is (scheme == "dark")
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
