"""The pages that need no service, in real Chromium: a linked text, and the report with its paged list of errors."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from chromium import Browser, complaints, needs_chromium, overflow, screen
from parlink.evaluation.report.html import to_html as report_page
from parlink.evaluation.scoring import score
from parlink.kb.check import Finding
from parlink.pages import render
from parlink.pages.corpus_report import render_report
from parlink.pages.linked_text import to_html
from parlink.types import Candidate, Document, Link, Span

pytestmark = needs_chromium
ERRORS = 120
HEIGHT = 700  # of a screen that has room for a whole card neither below nor above most lines


def linked() -> Document:
    """A text of many lines with links of every kind."""
    text = "Kent beat Leicester at Grace Road, and nobody saw Quux. " * 8
    links = []
    for start in range(0, len(text), len(text) // 8):
        candidates = tuple(
            Candidate(title, score=1.0 - place, prior=0.5, lm=-0.5 - place, classifier=0.5)
            for place, title in enumerate(("Kent County Cricket Club", "Kent", "Kent (band)"))
        )
        facts = {"type": "organization", "description": "cricket club in England"}
        url = "https://example.org/Kent"
        links.append(
            Link(Span(start, start + 4), candidates[0].title, confidence=0.9, url=url, candidates=candidates, **facts)
        )
        links.append(Link(Span(start + 10, start + 19), "Leicester", confidence=0.3))
        links.append(Link(Span(start + 50, start + 54), reason="no_candidate"))
    return Document(text, id="7", links=tuple(links), kb="tiny")


def report() -> str:
    """A report with many errors, each in a text of its own."""
    gold = [Document(f"Kent number{n} won", id=f"d{n}", links=(Link(Span(0, 4), "Kent"),)) for n in range(ERRORS)]
    candidates = (Candidate("Kent (band)", score=1.0, lm=-0.5), Candidate("Kent", score=0.5, lm=-1.0))
    wrong = Link(Span(0, 4), "Kent (band)", confidence=0.5, candidates=candidates)
    predicted = [Document(doc.text, id=doc.id, links=(wrong,) if n % 2 else ()) for n, doc in enumerate(gold)]
    return report_page([score(gold, predicted)], title="many errors")


def corpus_report() -> str:
    """A report of a corpus with words and names that are too long for a phone."""
    counts = {"documents": 13, "entries that are no documents, and are counted here": 1_000_000}
    titles = Counter({"Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch": 2})
    return render_report("runs/linked.jsonl", counts=counts, nil=Counter(nil=2), titles=titles, losses={"ids": 3})


def kb_report() -> str:
    """What is found in a knowledge base."""
    findings = {"titles that are not among the 30 candidates of their own name": Finding(1, ["Kent"])}
    return render("kb_check.html", name="tiny", titles=12, findings=findings)


def open_file(browser: Browser, folder: Path, html: str) -> Browser:
    (folder / "page.html").write_text(html, encoding="utf-8")
    browser.get((folder / "page.html").as_uri())
    return browser


def visible(page: Browser) -> list[str]:
    script = (
        "return [...document.querySelectorAll('article.error:not([hidden]) header span')].map((s) => s.textContent)"
    )
    return [place.partition(",")[0] for place in page.execute_script(script)]


PAGES = {"linked text": lambda: to_html(linked()), "report": report, "corpus": corpus_report, "kb": kb_report}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("make", PAGES.values(), ids=PAGES.keys())
def test_axe_finds_nothing_and_nothing_is_too_wide(
    chromium: Browser, tmp_path: Path, make: object, width: int, scheme: str
) -> None:
    assert callable(make)
    page = open_file(chromium, tmp_path, make())
    with screen(page, width, scheme=scheme):
        page.execute_script("document.querySelector('.mention, summary')?.focus()")
        page.execute_script("document.querySelectorAll('article:not([hidden]) details').forEach((d) => d.open = true)")
        assert overflow(page) == 0
        assert complaints(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_mention_of_any_type_is_readable_while_pointed_at(chromium: Browser, tmp_path: Path, scheme: str) -> None:
    kinds = ("person", "place", "organization", "event", "work", "species", "product", "other")
    links = [Link(Span(n * 5, n * 5 + 4), "Kent", type=kind, confidence=1.0) for n, kind in enumerate(kinds)]
    page = open_file(chromium, tmp_path, to_html(Document("Kent " * len(kinds), links=tuple(links))))
    with screen(page, 820, scheme=scheme):
        page.execute_script("document.querySelectorAll('.mention').forEach((one) => one.classList.add('pointed'))")
        assert len(page.find_elements(By.CLASS_NAME, "pointed")) == len(kinds)
        assert complaints(page) == []


@pytest.mark.parametrize("width", [390, 820, 1280])
def test_a_card_shows_on_focus_beside_its_line(chromium: Browser, tmp_path: Path, width: int) -> None:
    page = open_file(chromium, tmp_path, to_html(linked()))
    script = """const card = arguments[0].nextElementSibling.getBoundingClientRect();
        const lines = [...arguments[0].getClientRects()].map((line) => [line.top, line.bottom]);
        return [card.top, card.bottom, card.left, card.right, lines]"""
    with screen(page, width, HEIGHT):
        for mention in page.find_elements(By.CLASS_NAME, "mention"):
            page.execute_script("arguments[0].focus()", mention)
            top, bottom, left, right, lines = page.execute_script(script, mention)
            assert bottom > top
            assert all(top >= line[1] or bottom <= line[0] for line in lines)
            assert left >= 0 and right <= width
            assert top >= 0 and bottom <= HEIGHT


def test_bars_show_differences_of_scores_that_are_not_normalized(chromium: Browser, tmp_path: Path) -> None:
    candidates = (
        Candidate("Kent", score=13.0, lm=1.0, classifier=12.0, prior=0.25),
        Candidate("Kent (band)", score=12.0, lm=3.0, classifier=9.0, prior=0.5),
    )
    link = Link(Span(0, 4), "Kent", candidates=candidates)
    page = open_file(chromium, tmp_path, to_html(Document("Kent won.", links=(link,))))
    page.execute_script("document.querySelector('.mention').focus()")
    script = """return [...document.querySelectorAll('.part .meter')].map((meter) => [
        parseFloat(getComputedStyle(meter, '::before').width) / meter.getBoundingClientRect().width,
        parseFloat(getComputedStyle(meter, '::after').left) / meter.getBoundingClientRect().width])"""
    wanted = [[math.exp(-2), 1], [1, math.exp(-3)], [0.25, 0.5]]
    for bar, (share, tick) in zip(page.execute_script(script), wanted, strict=True):
        assert bar == pytest.approx([share, tick], abs=0.02)


def test_errors_are_paged_and_searched(chromium: Browser, tmp_path: Path) -> None:
    page = open_file(chromium, tmp_path, report())
    back, forth = page.find_elements(By.CSS_SELECTOR, ".pager button")
    assert visible(page) == [f"d{n}" for n in range(50)]
    assert not back.is_enabled()
    forth.click()
    forth.click()
    assert visible(page) == [f"d{n}" for n in range(100, ERRORS)]
    assert not forth.is_enabled()
    search = page.find_element(By.CSS_SELECTOR, "input[type=search]")
    search.send_keys("kent NUMBER77")
    assert visible(page) == ["d77"]
    assert not page.find_element(By.CLASS_NAME, "pager").is_displayed()
    search.clear()
    search.send_keys(" ")
    page.find_element(By.CSS_SELECTOR, ".missed input[value=MISSED_OTHER]").click()
    assert visible(page) == [f"d{n}" for n in range(1, 101, 2)]
    assert page.find_element(By.CSS_SELECTOR, ".search output").text == "60 of 120 errors"
