"""Flip bits of a knowledge base's files: `verify` tells every one, and without it nothing crashes or hangs.

Every trial is a process of its own, forked from one that has imported everything.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
from pathlib import Path

import pytest

from parlink.errors import KnowledgeBaseError
from parlink.kb import KnowledgeBase, overlay_path, tables
from parlink.kb.verify import verify
from parlink.types import Entity
from tiny_kb import LINES, tiny_folder

pytestmark = pytest.mark.slow
FLIPS = 135  # a file
SECONDS = 20
LOOK_UPS = ("HSV", "Kent", "Oberländer", "C++", "Q1055", "Title 77 of many", "title 5 of many", "nobody")
TOLD, WORKED, FAILED = 0, 1, 2
TRIES = ("titles.marisa", "keys.marisa", "ids.marisa")


def use(folder: Path) -> None:
    """Ask a knowledge base for all sorts of things."""
    kb = KnowledgeBase.open(folder)
    for surface in LOOK_UPS:
        for candidate in kb.candidates(surface):
            kb.entity(candidate.title)
        kb.resolve(surface)
    sum(map(len, kb.titles()))
    assert kb.name


def outcome(work: Path) -> int:
    """Use a damaged folder in a child, and return what came of it; a signal that ended it is negative."""
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        try:
            use(work)
            os._exit(WORKED)
        except KnowledgeBaseError:
            os._exit(TOLD)
        except BaseException:
            os._exit(FAILED)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("kb")
    many = [{"title": f"Title {n} of many", "id": f"t{n}", "description": f"number {n}"} for n in range(500)]
    return tiny_folder(place, [*LINES, *many])


def damage(file: Path, rng: random.Random) -> None:
    content = bytearray(file.read_bytes())
    bit = rng.randrange(8 * len(content))
    content[bit // 8] ^= 1 << bit % 8
    file.write_bytes(content)


@pytest.mark.parametrize("name", ["kb.json", "arrays.safetensors", "titles.marisa", "keys.marisa", "ids.marisa"])
def test_no_flip_crashes_and_verify_tells_each(folder: Path, tmp_path: Path, name: str) -> None:
    rng, outcomes = random.Random(name), []
    verify(folder)
    for _ in range(FLIPS):
        work = tmp_path / "kb"
        shutil.copytree(folder, work)
        damage(work / name, rng)
        with pytest.raises(KnowledgeBaseError):
            verify(work)
        outcomes.append(outcome(work))
        shutil.rmtree(work)
    print(
        name, "told at opening or look-up:", outcomes.count(TOLD), "not noticed without verify:", outcomes.count(WORKED)
    )
    assert set(outcomes) == {TOLD}, "small files are checked at opening"


def test_no_flip_of_a_large_file_crashes(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "CHECKED_BYTES", sum((folder / name).stat().st_size for name in TRIES))
    rng, outcomes = random.Random(1), []
    for _ in range(3 * FLIPS):
        work = tmp_path / "kb"
        shutil.copytree(folder, work)
        damage(work / "arrays.safetensors", rng)
        outcomes.append(outcome(work))
        shutil.rmtree(work)
    print("arrays, unchecked: told", outcomes.count(TOLD), "not noticed", outcomes.count(WORKED))
    assert set(outcomes) <= {TOLD, WORKED}


def test_no_flip_of_the_changes_crashes(folder: Path, tmp_path: Path) -> None:
    kb = KnowledgeBase.open(folder, overlay=tmp_path / "whole.sqlite")
    for number in range(50):
        kb.add(Entity(f"Town {number}"), aliases=["town"])
    titles = set(kb.titles())
    del kb
    rng, outcomes = random.Random(0), []
    for number in range(FLIPS):
        work = tmp_path / str(number)
        shutil.copytree(folder, work)
        shutil.copyfile(tmp_path / "whole.sqlite", overlay_path(work))
        damage(overlay_path(work), rng)
        outcomes.append(outcome(work))
        if outcomes[-1] == WORKED:  # a bit that stands for nothing
            assert set(KnowledgeBase.open(work).titles()) == titles
    assert set(outcomes) <= {TOLD, WORKED}
