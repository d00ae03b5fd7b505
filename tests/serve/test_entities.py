from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from parlink.kb import KnowledgeBase
from parlink.linking.linker import Linker
from parlink.serve import schemas
from tiny_kb import tiny_folder
from tiny_model import tiny_checkpoint
from tiny_server import running

SHIP = schemas.NEW_ENTITY | {"id": "Q7"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_folder(tmp_path)


def linker(folder: Path) -> Linker:
    kb = KnowledgeBase.open(folder)
    return Linker(tiny_checkpoint(seed=3, spread=2.0), kb=kb, source=kb)


@pytest.fixture
def client(folder: Path) -> Iterator[httpx.Client]:
    with running(linker(folder), allow_edits=True) as address, httpx.Client(base_url=address, timeout=30) as client:
        yield client


def titles(client: httpx.Client, surface: str) -> set[str]:
    """The titles among the candidates of a surface, as linking sees them."""
    body = {"text": surface, "spans": [[0, len(surface)]]}
    (link,) = client.post("/v1/link?top=30", json=body).raise_for_status().json()["links"]
    return {candidate["title"] for candidate in link.get("candidates", ())}


def test_an_entity_is_added_linked_to_shown_and_removed(client: httpx.Client) -> None:
    assert "Kent (ship)" not in titles(client, "MV Kent")
    added = client.post("/v1/entities", json=SHIP)
    assert (added.status_code, added.json()["title"]) == (201, "Kent (ship)")
    assert "Kent (ship)" in titles(client, "MV Kent") & titles(client, "Kent")
    shown = client.get("/v1/entities", params={"title": "Kent (ship)"}).json()
    assert (shown["id"], shown["type"], shown["description"]) == ("Q7", "product", "cargo ship")
    assert shown["popularity"] == SHIP["count"] * 2  # title and alias
    assert client.delete("/v1/entities", params={"title": "Kent (ship)"}).status_code == 204
    assert "Kent (ship)" not in titles(client, "MV Kent")
    assert client.get("/v1/entities", params={"title": "Kent (ship)"}).status_code == 404


@pytest.mark.parametrize("count", [1, 10_000])
def test_the_count_is_that_of_each_name(client: httpx.Client, count: int) -> None:
    entity = {"title": "Skylark", "aliases": ["Kent", "Kent"], "count": count}
    client.post("/v1/entities", json=entity).raise_for_status()
    (link,) = client.post("/v1/link", json={"text": "Kent", "spans": [[0, 4]]}).raise_for_status().json()["links"]
    prior = {candidate["title"]: candidate["prior"] for candidate in link["candidates"]}
    assert (prior["Skylark"] > 0.5) is (count > 1)


def test_what_cannot_be_changed_says_why(client: httpx.Client) -> None:
    assert client.post("/v1/entities", json={"title": " Kent "}).status_code == 409
    assert client.post("/v1/entities", json={"title": " "}).status_code == 422
    assert client.post("/v1/entities", json={"title": "A", "aliases": [""]}).status_code == 422
    assert client.post("/v1/entities", json={"title": "A" * 501}).status_code == 422
    no_type = client.post("/v1/entities", json={"title": "A", "type": "ship"})
    assert (no_type.status_code, "person, organization" in no_type.json()["error"]) == (422, True)
    assert "`titel`" in client.post("/v1/entities", json={"titel": "A"}).json()["error"]
    assert client.post("/v1/entities", content='{"title": "A"}').status_code == 415
    assert client.delete("/v1/entities", params={"title": "Nobody"}).status_code == 404
    assert client.get("/v1/entities").status_code == 422
    assert client.post("/v1/entities", json=schemas.NEW_ENTITY).status_code == 201


def test_changes_are_off_by_default_and_then_nothing_is_written(folder: Path) -> None:
    before = sorted(folder.parent.rglob("*"))
    with running(linker(folder)) as address, httpx.Client(base_url=address, timeout=30) as client:
        assert client.post("/v1/entities", json=SHIP).status_code == 403
        assert client.delete("/v1/entities", params={"title": "Kent"}).status_code == 403
        assert client.get("/v1/entities", params={"title": "Kent"}).json()["title"] == "Kent"
        client.post("/v1/link", json={"text": "Kent won."}).raise_for_status()
        turtle = client.post("/nif", content=schemas.TURTLE, headers={"content-type": "text/turtle"})
        turtle.raise_for_status()
    assert sorted(folder.parent.rglob("*")) == before


def test_a_change_that_cannot_be_saved_is_not_made(client: httpx.Client, folder: Path) -> None:
    overlay = folder.with_name("kb.overlay.sqlite")
    overlay.with_name("kb.overlay.sqlite-journal").mkdir()
    answer = client.post("/v1/entities", json=SHIP)
    assert (answer.status_code, "retry-after" in answer.headers) == (503, True)
    assert str(folder) not in answer.text
    assert client.get("/v1/entities", params={"title": SHIP["title"]}).status_code == 404
    assert not overlay.exists() or not overlay.stat().st_size


def test_linking_goes_on_while_entities_come_and_go(client: httpx.Client) -> None:
    stop, statuses = threading.Event(), []

    def read() -> None:
        with httpx.Client(base_url=client.base_url, timeout=30) as own:
            while not stop.is_set():
                answer = own.post(
                    "/v1/link?fallback=true", json={"text": "Kent beat Hamburg.", "spans": [[0, 4], [5, 9]]}
                )
                statuses.append(answer.status_code)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(15):
        assert client.post("/v1/entities", json={"title": f"Kent {number}", "aliases": ["Kent"]}).status_code == 201
        if number % 2:
            assert client.delete("/v1/entities", params={"title": f"Kent {number}"}).status_code == 204
    stop.set()
    for reader in readers:
        reader.join()
    assert set(statuses) == {200}
    assert {f"Kent {number}" for number in range(0, 15, 2)} <= titles(client, "Kent")


def test_a_service_without_a_knowledge_base_says_so(tmp_path: Path) -> None:
    alone = Linker(tiny_checkpoint(seed=3))
    with running(alone, allow_edits=True) as address, httpx.Client(base_url=address, timeout=30) as client:
        assert client.get("/v1/entities", params={"title": "Kent"}).status_code == 404
        assert "--kb" in client.post("/v1/entities", json=SHIP).json()["error"]
