"""The web page in real headless Chromium, against a real `parlink serve` with a tiny real model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from chromium import Browser, at, complaints, needs_chromium, overflow, screen, until
from page_service import HOSTILE, TEXT, link, open_page, serving, shown, slide, titles
from parlink import Linker, LinkOptions

pytestmark = needs_chromium
REQUESTS = "return performance.getEntriesByType('resource').length"


@pytest.fixture
def page(chromium: Browser, service: str) -> Iterator[Browser]:
    yield open_page(chromium, service)
    assert not chromium.execute_script("return window.pwned")


def test_links_are_in_place_whatever_the_characters(page: Browser, model: Path) -> None:
    link(page, TEXT)
    assert page.execute_script("return document.getElementById('article').textContent") == TEXT
    assert len(shown(page)) > 3
    assert shown(page) == titles(Linker.load(model).link(TEXT))
    assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_the_slider_gives_what_min_confidence_gives_without_a_request(page: Browser, model: Path) -> None:
    link(page, TEXT)
    linker, before = Linker.load(model), page.execute_script(REQUESTS)
    counts = set()
    for step in range(11):
        value = slide(page, step / 10)
        doc = linker.link(TEXT, options=LinkOptions(min_confidence=value))
        linked = [mention for mention in shown(page) if mention[1] is not None]
        assert linked == [mention for mention in titles(doc) if mention[1] is not None]
        counts.add(len(linked))
    assert len(counts) > 2
    assert page.execute_script(REQUESTS) == before
    at(page, "reset").click()
    assert shown(page) == titles(linker.link(TEXT))
    at(page, "unlinked").click()
    assert None not in {title for _, title in shown(page)}


def test_the_slider_begins_where_the_service_links(chromium: Browser, model: Path) -> None:
    with serving(model, "--min-confidence", "0.25") as address:
        page = open_page(chromium, address)
        link(page, TEXT)
        usual = titles(Linker.load(model).link(TEXT, options=LinkOptions(min_confidence=0.25)))
        assert shown(page) == usual
        assert at(page, "confidence-value").text == "25 %" and not at(page, "reset").is_displayed()
        assert "none below 25 %" in at(page, "confidence-hint").text
        assert slide(page, 0.1) == 0.25 and shown(page) == usual
        assert slide(page, 0.5) == 0.5 and len(shown(page)) < len(usual)
        at(page, "reset").send_keys(Keys.ENTER)
        assert shown(page) == usual
        assert page.switch_to.active_element == at(page, "confidence")
        open_page(page, f"{address}#text=Kent+won.&confidence=0.5")
        until(page, lambda page: at(page, "confidence").get_attribute("min") == "0.25")
        until(page, lambda page: at(page, "confidence-value").text == "50 %")


def test_the_focus_is_not_lost_where_linking_is_cancelled(page: Browser) -> None:
    page.execute_script("""window.fetch = (_, { signal }) => new Promise((_, fail) => {
        signal.addEventListener('abort', () => fail(signal.reason));
    })""")
    at(page, "text").send_keys("Kent won.")
    at(page, "link").send_keys(Keys.ENTER)
    until(page, lambda page: at(page, "cancel").is_displayed())
    at(page, "cancel").send_keys(Keys.ENTER)
    until(page, lambda page: not at(page, "progress").is_displayed())
    assert page.switch_to.active_element == at(page, "text")


def test_the_focus_is_not_lost_where_linking_fails(page: Browser) -> None:
    page.execute_script("document.getElementById('text').value = 'a '.repeat(1500)")
    at(page, "link").send_keys(Keys.ENTER)
    until(page, lambda page: at(page, "error").text)
    assert page.switch_to.active_element.get_attribute("id") in ("text", "link")


def test_the_keyboard_is_enough(page: Browser) -> None:
    at(page, "text").send_keys("HSV lost to Kent", Keys.CONTROL, Keys.ENTER)
    until(page, lambda page: at(page, "result").is_displayed())
    assert page.switch_to.active_element.get_attribute("id") == "article"
    page.switch_to.active_element.send_keys(Keys.TAB)
    mention = page.switch_to.active_element
    assert "mention" in mention.get_attribute("class")
    card = page.find_element(By.CLASS_NAME, "card")
    assert mention.get_attribute("aria-describedby") == card.get_attribute("id")
    mention.send_keys(Keys.TAB)  # into the card, which leads to the entity
    assert page.switch_to.active_element.get_attribute("href").startswith("https://example.org/")
    page.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert page.find_elements(By.CLASS_NAME, "card") == []
    assert page.switch_to.active_element == mention


def test_the_card_leads_with_the_entity_and_then_says_why(page: Browser) -> None:
    link(page, TEXT)
    page.execute_script("document.querySelector('.mention:not(.nil)').focus()")
    card = page.find_element(By.CLASS_NAME, "card")
    order = ("card-title", "sure", "why", "rivals")
    tops = [card.find_element(By.CLASS_NAME, name).rect["y"] for name in order]
    assert tops == sorted(tops)
    parts = [part.get_attribute("class") for part in card.find_elements(By.CLASS_NAME, "part")]
    assert parts[:2] == ["part lm odds", "part classifier odds"]
    width = "const m = arguments[0]; return parseFloat(getComputedStyle(m, '::before').width) / m.clientWidth"
    sure = page.execute_script(width, card.find_element(By.CSS_SELECTOR, ".sure .meter"))
    said = card.find_element(By.CLASS_NAME, "sure").text
    assert said == f"{100 * sure:.0f} % sure" or sure < 0.05


def test_a_pinned_card_stays_until_escape(page: Browser) -> None:
    link(page, TEXT)
    first, second = page.find_elements(By.CSS_SELECTOR, ".mention")[:2]
    mouse = webdriver.ActionChains(page)
    mouse.move_to_element(first).perform()
    assert page.find_elements(By.CLASS_NAME, "card")
    mouse.move_to_element(at(page, "kb")).perform()
    until(page, lambda page: not page.find_elements(By.CLASS_NAME, "card"))
    first.click()
    label = page.find_element(By.CLASS_NAME, "card").get_attribute("aria-label")
    mouse.move_to_element(second).move_to_element(at(page, "summary")).click().perform()
    pinned = page.find_element(By.CLASS_NAME, "card")
    assert (pinned.get_attribute("aria-label"), "pinned" in pinned.get_attribute("class")) == (label, True)
    webdriver.ActionChains(page).send_keys(Keys.ESCAPE).perform()
    assert page.find_elements(By.CLASS_NAME, "card") == []


@pytest.mark.parametrize("height", [320, 480, 900])
def test_the_card_never_covers_its_line(page: Browser, height: int) -> None:
    script = """const card = document.querySelector('.card').getBoundingClientRect();
        return [card.top, card.bottom, [...arguments[0].getClientRects()].map((line) => [line.top, line.bottom])]"""
    with screen(page, 600, height):
        page.execute_script("document.getElementById('text').value = arguments[0]", f"{TEXT}\n" * 4)
        at(page, "text").send_keys(Keys.CONTROL, Keys.ENTER)
        until(page, lambda page: at(page, "result").is_displayed())
        for mention in page.find_elements(By.CSS_SELECTOR, ".mention")[:12]:
            page.execute_script("arguments[0].scrollIntoView({ block: 'center' }); arguments[0].focus()", mention)
            top, bottom, lines = page.execute_script(script, mention)
            assert all(top >= line[1] or bottom <= line[0] for line in lines), (top, bottom, lines)


def test_names_and_addresses_are_hostile_and_nothing_runs(page: Browser) -> None:
    hostile = {"title": HOSTILE, "url": "javascript:window.pwned=1", "type": HOSTILE, "description": HOSTILE}
    doc = {"text": TEXT, "links": [{"start": 0, "end": 1, **hostile, "candidates": [hostile, {"title": "x"}]}]}
    script = """const [doc, done] = arguments;
        Promise.all([import('/static/download.js'), import('/static/article.js')]).then(([download, { Article }]) => {
            const article = document.createElement('p');
            document.getElementById('main').append(article);
            new Article(article).show(doc.text, doc.links, new Map());
            article.querySelector('.mention').focus();
            done([download.toHtml(doc, ''), document.querySelectorAll('main img, main script, a[href^=java]').length])
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
    assert [(TEXT[made["start"] : made["end"]], made["title"]) for made in doc["links"]] == shown(page)
    html = (tmp_path / "linked.html").read_text()
    assert html.count('class="mention') == html.count('class="card typed') == len(shown(page))
    assert "--accent" in html and "<button" not in html
    page.get((tmp_path / "linked.html").as_uri())
    assert complaints(page) == []
    listed = {name.text for name in page.find_elements(By.CSS_SELECTOR, ".entities .name")}
    assert listed == {made["title"] for made in doc["links"] if made["title"]}
    for mention in page.find_elements(By.CLASS_NAME, "mention"):
        assert (mention.tag_name, mention.get_attribute("tabindex")) == ("span", "0")
    page.find_element(By.CSS_SELECTOR, ".mention:not(.nil)").click()
    assert page.find_element(By.CSS_SELECTOR, ".mention:focus + .card a.card-title").is_displayed()


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
        page = open_page(chromium, address)
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
    with screen(page, 360, 700, scheme=scheme):
        link(page, f"{TEXT}\n" * 5)  # so long that there is a scroll bar
        for mention in page.find_elements(By.CSS_SELECTOR, ".mention")[:8]:
            page.execute_script("arguments[0].focus()", mention)
            assert page.find_elements(By.CLASS_NAME, "card")
            assert overflow(page) == 0
        ground = page.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (int(ground.removeprefix("rgb(").split(",")[0]) < 128) is (scheme == "dark")


def test_a_long_text_comes_up_from_its_top(page: Browser) -> None:
    with screen(page, 600, 400):
        page.execute_script("document.getElementById('text').value = arguments[0]", f"{TEXT}\n" * 10)
        page.execute_script("document.getElementById('link').click()")
        until(page, lambda page: at(page, "result").is_displayed())
        assert page.switch_to.active_element.get_attribute("id") == "article"
        assert page.execute_script("return window.scrollY") == 0


def test_progress_has_a_bar_on_a_phone(page: Browser) -> None:
    with screen(page, 360, 700):
        page.execute_script("window.fetch = () => new Promise(() => {})")
        page.execute_script("document.getElementById('text').value = 'Kent '.repeat(400)")
        at(page, "link").click()
        until(page, lambda page: "characters" in at(page, "waiting").text)
        assert at(page, "share").rect["width"] > 200
        assert overflow(page) == 0


def test_paper_shows_the_text_and_no_controls(page: Browser) -> None:
    link(page, TEXT)
    with screen(page, 800, media="print"):
        assert at(page, "article").is_displayed()
        assert not at(page, "confidence").is_displayed() and not at(page, "edit").is_displayed()
        style = "const s = getComputedStyle(document.querySelector(arguments[0])); return [s.display, s.maxHeight]"
        assert page.execute_script(style, "body")[0] == page.execute_script(style, ".columns")[0] == "block"
        assert page.execute_script(style, ".side ol")[1] == "none"  # the whole list, on as many sheets as it takes
