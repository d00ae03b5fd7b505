"""Kill every command that writes at its file-system changes: the next run gives the same bytes and leaves nothing over.

Every trial is a process of its own, forked from one that has imported everything, and killed by SIGKILL just before the
n-th time that it opens a file for writing, renames, removes or makes something. What was there before must still be
usable after the kill.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from parlink.checkpoint.folder import load_checkpoint, save_checkpoint
from parlink.cli import annotate, data, export, kb, link, train, tune  # noqa: F401  (imported once, before the forks)
from parlink.cli.main import run
from parlink.kb import KnowledgeBase, overlay_path
from parlink.kb.verify import verify
from parlink.linking.linker import Linker  # noqa: F401
from parlink.training.loop import Run  # noqa: F401
from parlink.types import Entity
from tiny_kb import LINES, tiny_folder, write_lines
from tiny_model import tiny_checkpoint
from tiny_training import DOCUMENTS, tiny_settings

pytestmark = pytest.mark.slow
KILLS = 30  # of a command, at most
EDIT_KILLS = 60
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "os.link", "sqlite3.connect"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
State = dict[str, Any]


@dataclass(frozen=True)
class Command:
    """A command, how it is told to go on, and what must be the same after it."""

    line: str
    again: str = ""  # what is added in the next run
    look: Callable[[Path], State] | None = None  # None: every file, byte for byte
    usable: Callable[[Path], object] = lambda work: None  # what must work even after a kill
    kills: int = KILLS  # at most


def files(work: Path) -> State:
    """All files of a folder, byte for byte, but for the date in kb.json and what follows from it."""
    return {str(path.relative_to(work)): content(path) if path.is_file() else None for path in work.rglob("*")}


def content(path: Path) -> object:
    if path.name != "kb.json":
        return path.read_bytes()
    return {key: value for key, value in json.loads(path.read_text()).items() if key not in ("created", "checksum")}


def entities(work: Path) -> State:
    """The entities of a knowledge base with its changes, and the names of all files: SQLite's bytes hold dates."""
    opened = KnowledgeBase.open(work / "kb")
    return dict.fromkeys(files(work)) | {"entities": sorted(map(str, opened)), "names": opened.candidates("town")}


def weights(work: Path) -> State:
    """The weights that a run has made, and the names of all files: logs hold times."""
    model = work / "run" / "model" / "model.safetensors"
    return dict.fromkeys(files(work)) | {"weights": model.read_bytes()}


def open_kb(work: Path) -> None:
    assert "Kent" in set(KnowledgeBase.open(work / "kb").titles())


def open_model(work: Path) -> None:
    load_checkpoint(work / "model")


COMMANDS = {
    "build": Command("kb build kb.jsonl -o new --processes 1"),
    "build and go on": Command("kb build kb.jsonl -o new --processes 1", again="--resume"),
    "replace": Command("kb build more.jsonl -o kb --processes 1 --replace", usable=open_kb),
    "add": Command("kb add kb Town --alias town", look=entities, usable=open_kb),
    "remove": Command("kb remove kb C++", look=entities, usable=open_kb),
    "rename": Command("kb rename kb Zürich Turicum", look=entities, usable=open_kb),
    "merge": Command("kb merge kb other -o both", usable=open_kb),
    "convert": Command("data convert docs.jsonl -o docs.jsonl.gz"),
    "convert to brat": Command("data convert docs.jsonl -o docs.brat --to brat"),
    "concat": Command("data concat docs.jsonl more-docs.jsonl -o all.jsonl"),
    "annotate": Command("annotate docs.jsonl -o linked.jsonl --model model --kb kb", again="--resume"),
    "page": Command("link Kent --model model --kb kb --html page.html"),
    "export": Command("export model -o small --kb kb", usable=open_model),
    "tune": Command("tune docs.jsonl --model model --kb kb -o curves", usable=open_model),
    "train": Command("train run.json.toml", again="--resume", look=weights, kills=10),
}


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What every command starts from."""
    work = tmp_path_factory.mktemp("start")
    tiny_folder(work)
    write_lines(work / "more.jsonl", [*LINES, {"title": "Leeds"}])
    tiny_folder(work / "others", [{"title": "Leeds"}, {"title": "Kent", "count": 2}]).rename(work / "other")
    shutil.rmtree(work / "others")
    save_checkpoint(work / "model", tiny_checkpoint(seed=3, spread=2.0), card="# A card\n")
    settings = tiny_settings(work, checkpoint_minutes=0, validate_steps=3)
    (work / "run.json.toml").write_text(to_toml(settings, work))
    for name, docs in (("docs", DOCUMENTS), ("more-docs", DOCUMENTS[:2])):
        lines = [{"id": f"{name} {number}", "text": doc.text} for number, doc in enumerate(docs)]
        write_lines(work / f"{name}.jsonl", lines)
    return work


def to_toml(settings: dict[str, Any], work: Path) -> str:
    """The settings as TOML, with paths that are relative to the folder."""
    text = json.loads(json.dumps(settings).replace(f"{work}/", ""))
    stage = text.pop("stages")[0]
    datasets = ", ".join(f"{{path = {json.dumps(one['path'])}}}" for one in stage.pop("train"))
    head = "".join(f"{key} = {json.dumps(value)}\n" for key, value in text.items())
    return (
        head
        + "[[stages]]\n"
        + f"train = [{datasets}]\n"
        + "".join(f"{k} = {json.dumps(v)}\n" for k, v in stage.items())
    )


def execute(work: Path, line: str, *, kill_at: int | None, counted: Path) -> int:
    """Run a command in a child, which is killed before its `kill_at`-th change; return how it ended."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 70
    try:
        os.chdir(work)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(os.open(counted.with_suffix(".err"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        os.environ["COLUMNS"] = "200"
        sys.argv = ["parlink", *line.split()]
        changes = watch(work, kill_at)
        try:
            run()
            code = 0
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1 if error.code else 0
        total = len(changes)
        counted.write_text(str(total))
    finally:
        os._exit(code)


def watch(work: Path, kill_at: int | None) -> list[str]:
    """List the changes to the folder from now on, and end the process before the one that is asked for."""
    changes: list[str] = []

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            if not isinstance(arguments[2], int) or not arguments[2] & WRITING:
                return
        elif event not in CHANGES:
            return
        place = arguments[0]
        if not isinstance(place, str | bytes | os.PathLike) or str(work) not in os.path.abspath(os.fsdecode(place)):  # noqa: PTH100
            return
        changes.append(event)
        if len(changes) == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    return changes


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_killed_anywhere_can_be_run_again(start: Path, tmp_path: Path, name: str) -> None:
    command, counted, work = COMMANDS[name], tmp_path / "count", tmp_path / "work"
    look = command.look or files

    def prepare() -> None:
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(start, work)

    prepare()
    assert execute(work, command.line, kill_at=None, counted=counted) == 0, counted.with_suffix(".err").read_text()
    wanted, total = look(work), int(counted.read_text())
    assert total > 0
    places = sorted({1 + round(index * (total - 1) / (command.kills - 1)) for index in range(command.kills)})
    killed = 0
    for place in places:
        prepare()
        code = execute(work, command.line, kill_at=place, counted=counted)
        killed += code == -signal.SIGKILL
        command.usable(work)
        again = f"{command.line} {command.again}" if command.again else command.line
        code = execute(work, again, kill_at=None, counted=counted)
        said = counted.with_suffix(".err").read_text()
        assert code == 0 or "there already" in said, (place, said[-2000:])  # killed when all was done but the cleaning
        state = look(work)
        assert state.keys() == wanted.keys(), (place, state.keys() ^ wanted.keys())
        assert [key for key in state if state[key] != wanted[key]] == [], place
    print(f"{name}: {killed} kills at {total} changes")
    assert killed >= len(places) // 2


def test_changes_that_were_acknowledged_survive_a_kill_at_any_moment(start: Path, tmp_path: Path) -> None:
    rng = random.Random(0)
    for kill in range(EDIT_KILLS):
        work = tmp_path / str(kill)
        shutil.copytree(start / "kb", work)
        opened, acknowledged = KnowledgeBase.open(work), []
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            for number in range(10_000):
                opened.add(Entity(f"Town {number}"), aliases=["town"])
                os.write(writer, b".")
        for number in range(rng.randint(1, 20)):
            os.read(reader, 1)
            acknowledged.append(f"Town {number}")
        time.sleep(rng.random() / 100)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(writer)
        acknowledged += [f"Town {len(acknowledged) + number}" for number in range(len(os.read(reader, 10_000)))]
        os.close(reader)
        titles = set(KnowledgeBase.open(work).titles())
        assert titles >= {*acknowledged, "Kent"}
        KnowledgeBase.open(work).add(Entity("After"))
        assert "After" in set(KnowledgeBase.open(work).titles())
        verify(work, overlay=overlay_path(work))
        shutil.rmtree(work)
    print(f"{EDIT_KILLS} kills in the middle of changes")
