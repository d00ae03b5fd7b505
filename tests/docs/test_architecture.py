"""docs/architecture.md is true of the tree as it is."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "parlink"
TEXT = (ROOT / "docs" / "architecture.md").read_text()
TREE = TEXT.partition("src/parlink/\n")[2].partition("```")[0]
ROOM = re.compile(r"^ *(\w+)/ +(\w+(?: \w+)*) *(.*)$", re.MULTILINE)
ROOMS = [room for room in ROOM.findall(TREE) if room[0] not in ("recipes", "benchmarks")]


def test_what_the_tree_names_is_there() -> None:
    assert len(ROOMS) > 10
    for room, modules, rest in ROOMS:
        for module in modules.split():
            assert (PACKAGE / room / f"{module}.py").is_file(), f"{room}/{module}"
        for folder in re.findall(r"(\w+)/", rest):
            assert (PACKAGE / room / folder).is_dir(), f"{room}/{folder}"


def test_every_room_and_root_module_is_named() -> None:
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {room for room, _, _ in ROOMS} == rooms
    lines = [re.split(r" {3,}", line.strip())[0] for line in TREE.splitlines() if not ROOM.match(line)]
    assert {name for line in lines for name in line.split()} == {path.stem for path in PACKAGE.glob("[!_]*.py")}


def test_the_ways_name_modules_that_are_there() -> None:
    ways = TEXT.partition("## The way of a document")[2]
    for room, module in re.findall(r"\b(text|nn|kb|linking|training|data)\.(\w+)\b", ways):
        path = PACKAGE / room / module
        assert path.with_suffix(".py").is_file() or path.is_dir() or _is_named(room, module), f"{room}.{module}"


def _is_named(room: str, name: str) -> bool:
    return any(re.search(rf"\b{name}\b", path.read_text()) for path in (PACKAGE / room).glob("*.py"))
