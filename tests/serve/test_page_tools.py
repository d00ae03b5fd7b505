"""What the web page offers beside the text: types, entities, examples, links, code, graph, new entities, the API."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

from chromium import Browser, at, complaints, needs_chromium, overflow, screen, until
from page_service import TEXT, link, open_page, serving, shown, slide
from parlink.kb.tables import TYPES

pytestmark = needs_chromium
WORDS = "Ada met Babbage in London. Turing was born in London. It rained."
ENTITIES = {"Ada": "person", "Babbage": "person", "London": "place", "Turing": "gene", "It": None}


def answer() -> dict[str, Any]:
    """What a service with types, descriptions and coherence would say."""
    links = []
    for surface, kind in ENTITIES.items():
        start = WORDS.find(surface)
        while start >= 0:
            facts = {} if kind is None else {"type": kind, "description": f"the {kind} of that name"}
            parts = {"score": 1.0, "lm": -0.5, "classifier": 0.5, "prior": 0.5, "coherence": 0.25}
            rivals = [{"title": surface, **parts}, {"title": f"{surface} (ship)", **parts, "score": 0.0}]
            links.append({"start": start, "end": start + len(surface), "title": surface, "confidence": 0.5, **facts})
            links[-1]["candidates"] = rivals
            start = WORDS.find(surface, start + 1)
    return {"text": WORDS, "links": sorted(links, key=lambda made: made["start"]), "kb": "tiny"}


@pytest.fixture
def page(chromium: Browser, service: str) -> Iterator[Browser]:
    yield open_page(chromium, service)
    assert not chromium.execute_script("return window.pwned")


@pytest.fixture
def typed(page: Browser) -> Browser:
    script = "const body = arguments[0]; window.fetch = () => Promise.resolve(new Response(body))"
    page.execute_script(script, json.dumps(answer()))
    link(page, WORDS)
    return page


@pytest.fixture
def copied(page: Browser) -> Browser:
    script = (
        "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => window.copied = text } })"
    )
    page.execute_script(script)
    return page


def copy(page: Browser, what: str) -> str:
    page.execute_script("window.copied = null")
    at(page, f"copy-{what}").click()
    return str(until(page, lambda page: page.execute_script("return window.copied")))


def test_types_have_colors_and_the_legend_filters(typed: Browser) -> None:
    legend = at(typed, "legend").find_elements(By.TAG_NAME, "button")
    assert [button.text.split("\n")[0].rstrip("0123456789") for button in legend] == [
        "person",
        "place",
        "gene",
        "no type",
    ]
    color = "return [...document.querySelectorAll('.mention')].map((m) => getComputedStyle(m).backgroundColor)"
    assert len(set(typed.execute_script(color))) == 4  # one a type
    legend[1].click()
    assert "London" not in {surface for surface, _ in shown(typed)}
    pressed = typed.switch_to.active_element
    assert (pressed.get_attribute("aria-pressed"), pressed.get_attribute("data-type")) == ("false", "place")
    pressed.click()
    assert len(shown(typed)) == 6


def test_the_card_shows_type_description_and_coherence(typed: Browser) -> None:
    typed.execute_script("document.querySelector('.mention').focus()")
    card = typed.find_element(By.CLASS_NAME, "card")
    until(typed, lambda _: card.find_element(By.CLASS_NAME, "chip").text == "person")  # once it is placed
    assert card.find_element(By.CLASS_NAME, "card-description").text == "the person of that name"
    assert card.find_elements(By.CSS_SELECTOR, ".part.coherence")
    assert card.find_element(By.CSS_SELECTOR, ".why .key").text == "A tick shows where Ada (ship) stands."


def test_a_click_on_an_entity_goes_to_its_places_in_turn(typed: Browser) -> None:
    (london,) = [e for e in typed.find_elements(By.CLASS_NAME, "entity") if e.text.startswith("London")]
    places = []
    for _ in range(3):
        london.click()
        places.append(
            typed.execute_script("return [...document.querySelectorAll('.mention')].indexOf(document.activeElement)")
        )
        assert typed.find_element(By.CLASS_NAME, "card").get_attribute("aria-label") == "About London"
    assert places == [2, 4, 2]


def test_the_keyboard_goes_through_the_places_of_an_entity_from_the_list(typed: Browser) -> None:
    (london,) = [e for e in typed.find_elements(By.CLASS_NAME, "entity") if e.text.startswith("London")]
    opened = "return [...document.querySelectorAll('.mention')].findIndex((m) => m.ariaExpanded === 'true')"
    places = []
    for _ in range(3):
        london.send_keys(Keys.ENTER)
        assert typed.switch_to.active_element == london
        card, panel = (typed.find_element(By.CSS_SELECTOR, name).rect for name in (".card", "#panel-text"))
        assert card["x"] + card["width"] <= panel["x"] + panel["width"] + 1  # the list is not covered
        places.append(typed.execute_script(opened))
    assert places == [2, 4, 2]
    london.send_keys(Keys.ESCAPE)
    assert typed.find_elements(By.CLASS_NAME, "card") == []
    at(typed, "legend").find_elements(By.TAG_NAME, "button")[0].send_keys(Keys.ENTER)
    assert typed.switch_to.active_element.get_attribute("data-type") == "person"


def show_graph(page: Browser) -> dict[str, WebElement]:
    """The entities of the graph by their titles."""
    at(page, "tab-graph").click()
    until(page, lambda page: page.find_elements(By.CSS_SELECTOR, ".node"))
    return {n.get_attribute("aria-label").split(",")[0]: n for n in page.find_elements(By.CSS_SELECTOR, ".node")}


def test_the_graph_joins_what_the_knowledge_base_relates(typed: Browser) -> None:
    related = {("London", "Ada"): 0.5, ("Ada", "Babbage"): 0.9, ("Turing", "It"): 0.05}
    script = """const related = new Map(arguments[0]);
        const title = (a, b) => related.get(`${a},${b}`) ?? related.get(`${b},${a}`) ?? 0;
        window.fetch = async (path, { body }) => {
            const { titles } = JSON.parse(body);
            return new Response(JSON.stringify({ related: titles.map((a) => titles.map((b) => title(a, b))) }));
        }"""
    typed.execute_script(script, [[",".join(pair), strength] for pair, strength in related.items()])
    nodes = show_graph(typed)
    assert nodes["Ada"].get_attribute("aria-label").endswith("connected to London, Babbage")
    assert not nodes["Turing"].get_attribute("aria-label").count("connected")
    widths = [float(edge.get_attribute("stroke-width")) for edge in typed.find_elements(By.CLASS_NAME, "edge")]
    assert sorted(widths) == [3.0, 4.6]
    assert "pages of the knowledge base" in at(typed, "graph-hint").text


def test_the_graph_joins_what_one_sentence_names_and_leads_to_the_text(typed: Browser) -> None:
    at(typed, "tab-text").send_keys(Keys.ARROW_RIGHT)
    assert typed.switch_to.active_element.get_attribute("id") == "tab-graph"
    nodes = show_graph(typed)
    assert nodes.keys() == set(ENTITIES)
    assert nodes["London"].get_attribute("aria-label").endswith("connected to Ada, Babbage, Turing")
    assert len(typed.find_elements(By.CLASS_NAME, "edge")) == 4
    assert "coherence" in at(typed, "graph-hint").text
    typed.execute_script("arguments[0].focus()", nodes["Turing"])
    nodes["Turing"].send_keys(Keys.ENTER)
    assert typed.switch_to.active_element.text == "Turing"


def test_the_graph_is_not_cut_off_where_a_scroll_bar_takes_its_room(typed: Browser) -> None:
    show_graph(typed)
    cut = "const g = document.getElementById('graph'); return g.scrollWidth - g.clientWidth"
    for width in ("100%", "20rem"):
        typed.execute_script("document.getElementById('panel-graph').style.width = arguments[0]", width)
        assert typed.execute_script(cut) <= 0


def test_one_click_links_an_example(page: Browser) -> None:
    page.find_element(By.CSS_SELECTOR, "#examples button").click()
    until(page, lambda page: at(page, "result").is_displayed())
    assert "Ada Lovelace" in at(page, "article").text


def test_a_link_holds_the_text_and_the_service_never_sees_it(copied: Browser, service: str) -> None:
    link(copied, TEXT)
    slide(copied, 0.3)
    before = shown(copied)
    address = copy(copied, "link")
    assert parse_qs(urlsplit(address).fragment) == {"text": [TEXT], "confidence": ["0.3"]}
    assert address.startswith(f"{service}#")
    again = open_page(copied, address)
    until(again, lambda page: at(page, "result").is_displayed())
    assert shown(again) == before


def test_code_that_is_copied_runs(copied: Browser, service: str) -> None:
    text = 'Kent\'s "HSV" \\ $HOME \N{GRINNING FACE}\nHamburg'
    link(copied, text)
    command = shlex.split(copy(copied, "curl").replace("\\\n", ""))
    assert command[:2] == ["curl", "-sS"] and f"{service}v1/link" in command
    assert json.loads(command[command.index("-d") + 1]) == {"text": text}
    printed: list[tuple[Any, ...]] = []
    exec(copy(copied, "python"), {"print": lambda *values: printed.append(values)})
    assert [title for _, _, title, _ in printed] == [title for _, title in shown(copied)]


def test_an_added_entity_changes_the_answer_and_can_be_removed(chromium: Browser, tmp_path: Path, model: Path) -> None:
    shutil.copytree(model, tmp_path / "model")
    with serving(tmp_path / "model", "--allow-edits") as address:
        page = open_page(chromium, address)
        until(page, lambda page: not at(page, "tab-add").get_property("hidden"))
        link(page, "Kent lost to HSV")
        before = shown(page)
        at(page, "tab-add").click()
        at(page, "add-title").send_keys("Kent (ship)")
        at(page, "add-aliases").send_keys(", ".join({surface for surface, _ in before}), Keys.ENTER)
        said = until(page, lambda page: at(page, "changes").text)
        assert "changed:" in said
        at(page, "add-title").send_keys(Keys.ENTER)  # a second time is refused
        assert "409" in until(page, lambda page: at(page, "error").text)
        at(page, "undo").click()
        until(page, lambda page: not at(page, "undo").is_displayed() and at(page, "changes").text)
        at(page, "tab-text").click()
        until(page, lambda page: shown(page) == before)
        at(page, "tab-add").click()
        at(page, "add-title").clear()
        at(page, "add-title").send_keys("Ship of no name")
        at(page, "add-aliases").clear()
        Select(at(page, "add-type")).select_by_visible_text("product")
        at(page, "add-aliases").send_keys("Elsewhere", Keys.ENTER)
        told = until(
            page, lambda page: "No link in this text changed" in at(page, "changes").text and at(page, "changes")
        )
        assert "candidate for none of its mentions" in told.text or "is candidate" in told.text
        at(page, "add-title").clear()
        at(page, "add-title").send_keys("  ", Keys.ENTER)
        assert until(page, lambda page: at(page, "error").text) == "The entity needs a name."
        response = httpx.get(f"{address}v1/entities", params={"title": "Ship of no name"})
        assert response.json()["type"] == "product"


def test_the_types_to_choose_from_are_those_of_a_knowledge_base(page: Browser) -> None:
    values = [option.get_attribute("value") for option in at(page, "add-type").find_elements(By.TAG_NAME, "option")]
    assert values == ["", *TYPES]


def test_there_is_no_tab_for_what_the_service_refuses(page: Browser) -> None:
    link(page, TEXT)
    assert not at(page, "tab-add").is_displayed()


def test_the_api_is_described_without_a_script_from_elsewhere(chromium: Browser, service: str) -> None:
    page = open_page(chromium, f"{service}docs")
    until(page, lambda page: page.find_elements(By.CSS_SELECTOR, "#routes section"))
    told = at(page, "routes").text
    assert "/v1/link" in told and "min_confidence" in told
    for facts in (
        "number; at least 0; at most 1",
        "integer; at least 1; at most 20; default: 5",
        '"rank", "beam"; default: "rank"',
        "integer; at least 1; at most 1,000,000,000; default: 1",
        "string; at most 2,000 characters; required",
    ):
        assert facts in told, facts
    assert told.count("Minimum log-odds that a mention starts") == 1
    assert "As described at POST /v1/link: mention_threshold, score_threshold" in told
    anchors = {
        anchor.get_attribute("href").partition("#")[2] for anchor in page.find_elements(By.CSS_SELECTOR, "main a")
    }
    assert anchors and all(page.find_elements(By.ID, anchor) for anchor in anchors)
    assert complaints(page) == []
    with screen(page, 360):
        assert overflow(page) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing(page: Browser, scheme: str, width: int) -> None:
    with screen(page, width, 900, scheme=scheme):
        assert complaints(page) == []
        page.execute_script("const b = arguments[0]; window.fetch = async () => new Response(b)", json.dumps(answer()))
        link(page, WORDS)
        page.execute_script("document.querySelector('.mention').click()")
        assert complaints(page) == []
        page.execute_script("document.getElementById('tab-add').hidden = false")
        for tab in ("tab-graph", "tab-add"):
            page.execute_script("document.getElementById(arguments[0]).click()", tab)
            assert complaints(page) == []
