from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from parlink.errors import KnowledgeBaseError
from parlink.kb import KnowledgeBase, copy_kb, overlay, overlay_path
from parlink.kb.changes import Changes
from parlink.types import Entity
from tiny_kb import LINES, found, tiny_folder, tiny_kb


@pytest.fixture
def kb(tmp_path):
    return tiny_kb(tmp_path)


def test_an_added_entity_is_found_like_any_other(kb):
    kb.add(Entity("Bremen (city)", id="Q24879", description="port"), aliases=["HB"], count=4)
    assert kb.entity("Bremen (city)") == Entity("Bremen (city)", id="Q24879", description="port")
    assert found(kb, "Bremen (city)") == [("Bremen (city)", "exact")]
    assert found(kb, "BREMEN") == [("Bremen (city)", "title")]
    assert found(kb, "hb") == [("Bremen (city)", "folded")]
    assert kb.resolve("Q24879") == kb.resolve("Bremen_(city)") == "Bremen (city)"
    assert len(kb) == len(LINES) + 1
    assert list(kb.titles())[-1] == "Bremen (city)"


def test_added_counts_and_those_of_the_folder_add_up(kb):
    kb.add_alias("HSV", "Kent", count=8)
    kb.add_alias("HSV", "Hamburg", count=2)
    priors = {c.title: c.prior for c in kb.candidates("HSV")}
    assert priors == pytest.approx({"Kent": 8 / 18, "Hamburger SV": 6 / 18, "Hamburg": 4 / 18})


def test_each_name_of_an_added_entity_counts_as_often_as_it_is_said_to(kb):
    kb.add(Entity("Hertha"), aliases=["HSV", "Berlin", "Berlin"], count=8)
    priors = {c.title: c.prior for c in kb.candidates("HSV")}
    assert priors == pytest.approx({"Hertha": 8 / 16, "Hamburger SV": 6 / 16, "Hamburg": 2 / 16})
    assert kb.snapshot().times_seen("Hertha") == 4 * 8


def test_a_renamed_entity_keeps_its_names_and_its_id(kb):
    kb.rename("Hamburger SV", "HSV Hamburg")
    assert "Hamburger SV" not in kb
    assert kb.entity("HSV Hamburg") == Entity("HSV Hamburg", id="Q51974")
    assert kb.resolve("Hamburger SV") == kb.resolve("Q51974") == "HSV Hamburg"
    assert found(kb, "Hamburger SV") == [("HSV Hamburg", "exact")]
    assert found(kb, "HSV Hamburg") == [("HSV Hamburg", "exact")]
    assert kb.candidates("HSV")[0].title == "HSV Hamburg"
    assert len(kb) == len(LINES)
    kb.rename("HSV Hamburg", "HSV")
    assert kb.resolve("HSV Hamburg") == "HSV"
    assert found(kb, "HSV Hamburg") == found(kb, "Hamburger SV") == [("HSV", "exact")]


def test_a_renamed_entity_is_found_by_its_old_title_though_that_was_no_name_of_it(kb):
    kb.remove_alias("Kent", "Kent")
    assert "Kent" not in dict(found(kb, "Kent"))
    kb.rename("Kent", "Kentshire")
    assert dict(found(kb, "Kent"))["Kentshire"] == "exact"


def test_who_gave_a_name_away_is_still_found_by_it(kb):
    kb.add(Entity("Ulm"))
    kb.rename("Ulm", "Bremen")
    kb.rename("Kent", "Ulm")
    assert {title for title, _ in found(kb, "Ulm")} == {"Ulm", "Bremen"}
    assert kb.resolve("Ulm") == "Ulm"
    kb.rename("Bremen", "Bremen (city)")
    kb.remove_alias("Bremen", "Bremen (city)")
    kb.add(Entity("Bremen"))
    assert found(kb, "Bremen") == [("Bremen", "exact")]


def test_names_can_be_given_again_once_they_are_free(kb):
    kb.rename("Kent", "Kent (county)")
    kb.add(Entity("Kent", description="a new one"))
    assert kb.resolve("Kent") == "Kent"
    assert kb.entity("Kent").description == "a new one"
    assert {title for title, step in found(kb, "Kent") if step == "exact"} >= {"Kent", "Kent (county)"}
    kb.remove("Kent")
    kb.rename("Kent (county)", "Kent")
    assert kb.entity("Kent").description == "county in England"
    assert kb.resolve("Kent (county)") == "Kent"


def test_a_removed_entity_is_gone_and_priors_still_sum_to_one(kb):
    kb.remove("Hamburger SV")
    assert found(kb, "HSV") == [("Hamburg", "exact")]
    assert kb.candidates("HSV")[0].prior == pytest.approx(1)
    assert kb.entity("Hamburger SV") is kb.resolve("Hamburger SV") is kb.resolve("Q51974") is None
    assert "Hamburger SV" not in set(kb.titles())
    assert len(kb) == len(LINES) - 1


def test_a_removed_alias_finds_the_title_in_no_spelling(kb):
    kb.remove_alias("HSV", "Hamburg")
    assert found(kb, "HSV") == found(kb, "HSV") == [("Hamburger SV", "exact")]
    assert found(kb, "hsv") == [("Hamburger SV", "folded")]
    assert found(kb, "Hamburg")[0][0] == "Hamburg"
    kb.rename("Hamburg", "Hamburg, Germany")
    assert found(kb, "HSV") == [("Hamburger SV", "exact")]
    kb.add_alias("HSV", "Hamburg, Germany")
    assert [title for title, _ in found(kb, "HSV")] == ["Hamburger SV", "Hamburg, Germany"]


def test_an_alias_that_is_part_of_an_added_name_can_be_removed(kb):
    kb.add(Entity("Anna Bremen"))
    kb.remove_alias("Bremen", "Anna Bremen")
    assert found(kb, "Bremen") == []
    assert found(kb, "Anna Bremen") == [("Anna Bremen", "exact")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda kb: kb.add(Entity("Kent")), "'Kent' is there already"),
        (lambda kb: kb.add(Entity(" \n")), "an empty title"),
        (lambda kb: kb.add(Entity("Bremen"), aliases=[""]), "an empty alias"),
        (lambda kb: kb.add(Entity("Bremen"), count=0), "at least 1, got 0"),
        (lambda kb: kb.add(Entity("Bremen"), count=True), "a whole number of at least 1, got True"),
        (lambda kb: kb.add(Entity("Bremen"), count="3"), "a whole number of at least 1, got '3'"),
        (lambda kb: kb.add("Bremen"), r"must be an Entity, as in Entity\('Kent'\), got 'Bremen'"),
        (lambda kb: kb.add(Entity("Bremen"), aliases="HB"), "aliases must be a list of strings, got 'HB'"),
        (lambda kb: kb.add(Entity("Bremen"), aliases=[3]), "alias must be a string, got 3"),
        (lambda kb: kb.rename("Kent", 3), "title must be a string, got 3"),
        (lambda kb: kb.remove(3), "title must be a string, got 3"),
        (lambda kb: kb.remove_alias(3, "Kent"), "alias must be a string, got 3"),
        (lambda kb: kb.candidates(3), "surface must be a string, got 3"),
        (lambda kb: kb.candidates("Kent", limit="x"), "limit must be a whole number of at least 0, got 'x'"),
        (lambda kb: kb.entity(3), "title must be a string, got 3"),
        (lambda kb: kb.by_id(3), "id must be a string, got 3"),
        (lambda kb: kb.resolve(None), "name must be a string, got None"),
        (lambda kb: kb.rename("Bremen", "HB"), "no entity 'Bremen'"),
        (lambda kb: kb.rename("Kent", "Hamburg"), "'Hamburg' is there already"),
        (lambda kb: kb.rename("Kent", ""), "an empty title"),
        (lambda kb: kb.remove("kent"), "no entity 'kent'"),
        (lambda kb: kb.add_alias("HB", "Bremen"), "no entity 'Bremen'"),
        (lambda kb: kb.add_alias("", "Kent"), "an empty alias"),
        (lambda kb: kb.remove_alias("HB", "Kent"), "'HB' is no alias of 'Kent'"),
        (lambda kb: kb.remove_alias("HB", "Bremen"), "'HB' is no alias"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused_and_changes_nothing(kb, change, message):
    before = kb.name
    with pytest.raises(KnowledgeBaseError, match=message):
        change(kb)
    assert kb.name == before
    assert not overlay_path(kb.folder).exists()


def test_changes_outlive_the_process_and_show_in_the_name(tmp_path):
    kb = tiny_kb(tmp_path)
    plain = kb.name
    kb.add(Entity("Bremen"))
    assert kb.name.startswith(f"{plain}+")
    again = KnowledgeBase.open(kb.folder)
    assert again.name == kb.name
    assert "Bremen" in again


def test_changes_can_be_kept_elsewhere(tmp_path):
    folder = tiny_folder(tmp_path)
    mine = KnowledgeBase.open(folder, overlay=tmp_path / "mine.json")
    mine.add(Entity("Bremen"))
    assert "Bremen" in mine
    assert "Bremen" not in KnowledgeBase.open(folder)


def test_changes_outlive_a_new_build_of_the_folder(tmp_path):
    kb = tiny_kb(tmp_path)
    kb.remove("Hamburg")
    kb.rename("Kent", "Kent (county)")
    kb.remove_alias("HSV", "Hamburger SV")
    again = tiny_kb(tmp_path, [line for line in LINES if line["title"] not in ("Hamburg", "Kent")])
    assert len(again) == len(LINES) - 2
    assert found(again, "HSV") == []


def test_what_was_added_is_one_entity_when_a_new_build_has_it_too(tmp_path):
    kb = tiny_kb(tmp_path)
    kb.add(Entity("Ulm", id="u1"), aliases=["Ulma"])
    again = tiny_kb(tmp_path, [*LINES, {"title": "Ulm", "aliases": ["Ulm Minster town"], "count": 5}])
    assert len(again) == len(LINES) + 1 == len(list(again.titles()))
    assert [(c.title, c.prior) for c in again.candidates("Ulm")] == [("Ulm", 1.0)]
    assert found(again, "Ulma") == [("Ulm", "exact")] == found(again, "Ulm Minster town")
    assert again.resolve("u1") == "Ulm"
    again.remove("Ulm")
    assert "Ulm" not in again
    again.add(Entity("Ulm"))
    assert list(again.titles()).count("Ulm") == 1


def test_others_that_have_it_open_see_a_change_at_once(kb):
    other = KnowledgeBase.open(kb.folder)
    for number in range(20):  # faster than the clock of the file system ticks
        kb.add(Entity(f"Town {number}"))
        assert f"Town {number}" in other
        other.remove(f"Town {number}")
        assert f"Town {number}" not in kb


ADDS = """
import sys
from parlink.kb import KnowledgeBase
from parlink.types import Entity
kb = KnowledgeBase.open(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for number in range(20):
    kb.add(Entity(f"{sys.argv[2]} {number}"))
"""


def test_two_processes_do_not_lose_each_others_changes(kb):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([sys.executable, "-c", ADDS, str(kb.folder), who], **pipes) for who in ("Ann", "Ben")]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert len(kb) == len(LINES) + 40


def test_threads_do_not_lose_each_others_changes(kb):
    threads = [
        threading.Thread(target=lambda who=who: [kb.add(Entity(f"{who} {n}")) for n in range(10)]) for who in "abc"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kb) == len(LINES) + 30


def test_who_finds_it_locked_for_too_long_is_told(kb, monkeypatch):
    kb.add(Entity("Bremen"))
    monkeypatch.setattr(overlay, "LOCK_SECONDS", 0.05)
    late = KnowledgeBase.open(kb.folder)
    with closing(sqlite3.connect(overlay_path(kb.folder), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(KnowledgeBaseError, match="another process has been changing it"):
            late.add(Entity("Ulm"))
        assert found(late, "Bremen") == [("Bremen", "exact")]  # reading goes on
    late.add(Entity("Ulm"))
    assert "Ulm" in kb


FILLS_THE_DISK = """
import resource, sys
from parlink.errors import KnowledgeBaseError
from parlink.kb import KnowledgeBase
from parlink.types import Entity
kb = KnowledgeBase.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    kb.add(Entity("Bremen", description="x" * 200_000))
except KnowledgeBaseError as error:
    print(error)
print(len(kb), "Hannover" in kb)
"""


def test_a_change_that_cannot_be_written_is_not_made(kb):
    kb.add(Entity("Hannover"))
    done = subprocess.run(
        [sys.executable, "-c", FILLS_THE_DISK, str(kb.folder)], capture_output=True, text=True, check=True
    )
    assert "cannot be saved" in done.stdout
    assert done.stdout.count("\n") == 2
    assert done.stdout.endswith(f"{len(LINES) + 1} True\n")
    assert "Bremen" not in kb
    kb.add(Entity("Bremen"))
    assert "Bremen" in KnowledgeBase.open(kb.folder)


def test_a_folder_that_cannot_hold_changes_says_what_to_do(tmp_path):
    kb = KnowledgeBase.open(tiny_folder(tmp_path), overlay=tmp_path / "kb.jsonl" / "x.json")
    with pytest.raises(KnowledgeBaseError, match="give another overlay file"):
        kb.add(Entity("Bremen"))


NEWER = "PRAGMA user_version = 99"


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"{" * 5000, "not a file of changes"), (NEWER, "newer parlink"), ("CREATE TABLE x (y)", "something else")],
)
def test_a_broken_file_of_changes_is_an_error(kb, content, message):
    path = overlay_path(kb.folder)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        with closing(sqlite3.connect(path)) as other:
            other.execute(content)
    with pytest.raises(KnowledgeBaseError, match=message):
        kb.candidates("Kent")
    with pytest.raises(KnowledgeBaseError, match=message):
        kb.add(Entity("Ulm"))
    with pytest.raises(KnowledgeBaseError, match=message):
        KnowledgeBase.open(kb.folder)
    path.unlink()
    assert found(kb, "Kent")


def test_changes_that_are_deleted_or_replaced_are_gone_at_the_next_look_up(kb):
    kb.add(Entity("Bremen"))
    other = KnowledgeBase.open(kb.folder)
    for file in kb.folder.parent.glob("kb.overlay.sqlite*"):
        file.unlink()
    assert "Bremen" not in kb
    kb.add(Entity("Ulm"))
    assert "Ulm" in other
    assert "Bremen" not in other


def test_one_row_holds_all_changes_to_an_entity(kb):
    kb.add(Entity("Bremen"), aliases=["HB"])
    kb.rename("Bremen", "Bremen (city)")
    with closing(sqlite3.connect(overlay_path(kb.folder))) as other:
        (row,) = other.execute("SELECT record FROM changes").fetchall()
    assert json.loads(row[0]) == {
        "title": "Bremen (city)",
        "added": True,
        "names": {"Bremen": 1, "Bremen (city)": 1, "HB": 1},
        "former": ["Bremen"],
    }


def statements(kb, changes):
    """How many steps SQLite takes for changes."""
    steps = 0

    def count():
        nonlocal steps
        steps += 1
        return 0

    kb._overlay._connection.set_progress_handler(count, 10)
    for change in changes:
        change()
    kb._overlay._connection.set_progress_handler(None, 0)
    return steps


def test_the_cost_of_a_change_does_not_grow_with_the_number_of_changes(kb, monkeypatch):
    """Counted: records put into the view, and steps of SQLite; also with a reader beside."""
    put = []
    monkeypatch.setattr(
        Changes, "put", lambda self, *row, put_record=Changes.put: (put.append(1), put_record(self, *row))
    )
    kb.add(Entity("First"))
    other = KnowledgeBase.open(kb.folder)

    def work(number):
        kb.add(Entity(f"Town {number}", id=f"t{number}"), aliases=[f"alias {number}"])
        assert f"Town {number}" in other

    first = statements(kb, [lambda n=n: work(n) for n in range(100)])
    steps, put[:] = len(put), []
    for number in range(100, 900):
        work(number)
    put.clear()
    last = statements(kb, [lambda n=n: work(n) for n in range(900, 1000)])
    assert len(put) == steps - 2 == 200
    assert last <= first * 1.5


def test_a_snapshot_stays_as_it_is(kb):
    kb.add(Entity("Bremen", id="Q24879"), aliases=["HB"])
    before = kb.snapshot()
    name = before.name
    kb.rename("Bremen", "Ulm")
    kb.remove("Kent")
    kb.add_alias("HB", "Hamburg")
    kb.add(Entity("Jena"))
    assert (before.name, "Kent" in before, "Jena" in before, len(before)) == (name, True, False, len(LINES) + 1)
    assert before.entity("Bremen") == Entity("Bremen", id="Q24879")
    assert before.resolve("Q24879") == "Bremen"
    assert [c.title for c in before.candidates("HB")] == ["Bremen"]
    assert kb.resolve("Bremen") == kb.snapshot().resolve("Bremen") == "Ulm"
    assert len(kb.snapshot().candidates("HB", limit=1)) == 1


FORKS = """
import os, sys, threading
from parlink.kb import KnowledgeBase
from parlink.types import Entity
kb = KnowledgeBase.open(sys.argv[1])
kb.add(Entity("Parent"))
kb._lock.acquire()  # as another thread may hold it
children = []
for number in range(3):
    child = os.fork()
    if not child:
        kb.add(Entity(f"Child {number}"))
        os._exit(0 if "Parent" in kb else 1)
    children.append(child)
kb._lock.release()
kb.add(Entity("Parent again"))
print([os.waitpid(child, 0)[1] for child in children], all(f"Child {number}" in kb for number in range(3)))
"""


def test_a_forked_process_opens_anew(kb):
    done = subprocess.run([sys.executable, "-c", FORKS, kb.folder], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[0, 0, 0] True\n", done.stderr
    assert {"Parent", "Parent again", "Child 0", "Child 1", "Child 2"} <= set(kb.titles())


def test_it_travels_to_a_spawned_process(kb):
    kb.add(Entity("Bremen"))
    with get_context("spawn").Pool(1) as pool:
        assert pool.apply(_add_and_find, (kb, "Ulm")) == ["Bremen", "Ulm"]
    assert "Ulm" in kb


def _add_and_find(kb, title):
    kb.add(Entity(title))
    return [each for each in ("Bremen", "Ulm", "Jena") if each in kb]


READS_ONLY = """
import mmap, os, sys  # after setuid the modules of root cannot be read
from parlink.errors import KnowledgeBaseError
from parlink.kb import KnowledgeBase
from parlink.types import Entity
os.setuid(65534)
kb = KnowledgeBase.open(sys.argv[1])
print([title for title in ("Bremen", "Ulm") if title in kb], len(kb.candidates("Bremen")))
try:
    kb.add(Entity("Jena"))
except KnowledgeBaseError as error:
    print(error)
"""


@pytest.fixture
def readable_by_all():
    """A folder that others than its owner may read: those of pytest they may not, and these stay as they are."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not write")
@pytest.mark.parametrize("open_elsewhere", [False, True])
def test_who_may_not_write_can_read(readable_by_all, open_elsewhere):
    kb = tiny_kb(readable_by_all)
    kb.add(Entity("Bremen"))
    kb.folder.chmod(0o755)
    folder = kb.folder
    if not open_elsewhere:
        del kb
    done = subprocess.run([sys.executable, "-c", READS_ONLY, folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    shown, error = done.stdout.splitlines()
    assert shown == "['Bremen'] 1"
    assert "cannot be saved" in error
    assert "give another overlay file" in error


READS_TWICE = """
import mmap, os, sys
from parlink.kb import KnowledgeBase
os.setuid(65534)
kb = KnowledgeBase.open(sys.argv[1])
for _ in range(2):
    print([title for title in ("Bremen", "Ulm") if title in kb], flush=True)
    sys.stdin.readline()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not write")
def test_who_may_not_write_sees_a_later_change_though_the_file_has_the_same_size(readable_by_all):
    kb = tiny_kb(readable_by_all)
    kb.add(Entity("Bremen"))
    kb.folder.chmod(0o755)
    folder, file = kb.folder, kb.folder.with_name("kb.overlay.sqlite")
    del kb
    size, command = file.stat().st_size, [sys.executable, "-c", READS_TWICE, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout.readline() == "['Bremen']\n"
        kb = KnowledgeBase.open(folder)
        kb.add(Entity("Ulm"))
        del kb
        assert file.stat().st_size == size
        reader.stdin.write("\n")
        reader.stdin.flush()
        assert reader.stdout.readline() == "['Bremen', 'Ulm']\n"
        reader.stdin.write("\n")


OLD = {
    "added": {"Bremen": {"id": "Q24879", "count": 3}, "Ulm": {}},
    "changed": {"Kent": "Kent (county)", "C#": None},
    "redirects": {"Brema": "Bremen"},
    "aliases": [{"surface": "HB", "title": "Bremen", "count": 2}, {"surface": "Turicum", "title": "Zürich"}],
    "hidden": [{"key": "hsv", "title": "Hamburg"}],
}


def old_changes(folder):
    path = folder.with_name("kb.overlay.json")
    path.write_text(json.dumps(OLD))
    return path


def check_old_changes(kb):
    assert len(kb) == len(LINES) + 1
    assert kb.entity("Bremen").id == "Q24879"
    assert kb.resolve("Brema") == kb.resolve("Q24879") == "Bremen"
    assert found(kb, "Brema") == found(kb, "HB") == [("Bremen", "exact")]
    assert kb.resolve("Kent") == "Kent (county)"
    assert kb.entity("Kent (county)").description == "county in England"
    assert found(kb, "Turicum") == [("Zürich", "exact")]
    assert found(kb, "HSV") == [("Hamburger SV", "exact")]
    assert "C#" not in kb


def test_an_old_file_of_changes_is_taken_over_once(tmp_path):
    folder = tiny_folder(tmp_path)
    path = old_changes(folder)
    kb = KnowledgeBase.open(folder)
    check_old_changes(kb)
    assert sorted(each.name for each in tmp_path.glob("*.overlay.*[!ml]")) == [
        "kb.overlay.json.taken-over",
        "kb.overlay.sqlite",
    ]
    kb.remove("Ulm")
    path.write_text(json.dumps(OLD))
    assert "Ulm" not in KnowledgeBase.open(folder)


def test_an_old_file_that_is_named_is_taken_over_into_one_beside_it(tmp_path):
    folder = tiny_folder(tmp_path)
    mine = old_changes(folder).rename(tmp_path / "mine.json")
    check_old_changes(KnowledgeBase.open(folder, overlay=mine))
    assert (tmp_path / "mine.sqlite").is_file()
    assert "Bremen" not in KnowledgeBase.open(folder)


def test_where_nothing_can_be_written_an_old_file_is_still_read(tmp_path, monkeypatch):
    folder = tiny_folder(tmp_path)
    path = old_changes(folder)
    monkeypatch.setattr("parlink.kb.overlay_json.TemporaryDirectory", _refuse_to_write)
    check_old_changes(KnowledgeBase.open(folder))
    assert path.is_file()


def _refuse_to_write(**options):
    raise PermissionError(13, "Permission denied")


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "not a file of changes"), ("[]", "not a file of changes"), ('{"format": 99, "new": 1}', "newer parlink")],
)
def test_a_broken_old_file_is_an_error(tmp_path, content, message):
    folder = tiny_folder(tmp_path)
    folder.with_name("kb.overlay.json").write_text(content)
    with pytest.raises(KnowledgeBaseError, match=message):
        KnowledgeBase.open(folder)


def test_a_copy_has_the_changes_of_one_moment(kb, tmp_path):
    kb.add(Entity("Bremen"))
    copy_kb(kb.folder, tmp_path / "copy")
    kb.add(Entity("Ulm"))
    copied = KnowledgeBase.open(tmp_path / "copy")
    assert "Bremen" in copied
    assert "Ulm" not in copied
    copied.add(Entity("Jena"))
    assert "Jena" not in kb


TITLES = ["Kent", "Hamburg", "Bremen", "Ulm", "Kent (band)"]


class AnyChanges(RuleBasedStateMachine):
    """Any changes in any order leave what a plain dictionary of entity to title and aliases would hold."""

    entities = Bundle("entities")

    @initialize(target=entities)
    def opened(self):
        self.model: dict[str, set[str]] = {line["title"]: {line["title"]} for line in LINES}
        for file in FOLDER[0].parent.glob("kb.overlay*"):
            file.unlink(missing_ok=True)  # SQLite removes some itself when the last connection is closed
        self.kb = KnowledgeBase.open(FOLDER[0])
        self.other = KnowledgeBase.open(FOLDER[0])
        return multiple(*self.model)

    @rule(target=entities, title=st.sampled_from(TITLES), alias=st.sampled_from(["HB", "xyz"]))
    def add(self, title, alias):
        if title in self.model:
            with pytest.raises(KnowledgeBaseError):
                self.kb.add(Entity(title))
            return multiple()
        self.kb.add(Entity(title), aliases=[alias])
        self.model[title] = {title, alias}
        return title

    @rule(target=entities, old=consumes(entities), new=st.sampled_from(TITLES))
    def rename(self, old, new):
        if old not in self.model or new in self.model:
            with pytest.raises(KnowledgeBaseError):
                self.kb.rename(old, new)
            return old if old in self.model else multiple()
        self.kb.rename(old, new)
        self.model[new] = self.model.pop(old) | {new}
        return new

    @rule(title=consumes(entities))
    def remove(self, title):
        if title in self.model:
            self.kb.remove(title)
            del self.model[title]

    @rule(title=entities, alias=st.sampled_from(["HB", "xyz"]))
    def add_alias(self, title, alias):
        if title in self.model:
            self.kb.add_alias(alias, title)
            self.model[title].add(alias)

    @rule(title=entities, alias=st.sampled_from(["HB", "xyz"]))
    def remove_alias(self, title, alias):
        if alias in self.model.get(title, ()):
            self.kb.remove_alias(alias, title)
            self.model[title].remove(alias)

    @invariant()
    def agrees(self):
        for kb in (self.kb, self.other):
            assert set(kb.titles()) == self.model.keys()
            assert len(kb) == len(self.model)
            for title, names in self.model.items():
                assert kb.entity(title) is not None
                assert kb.resolve(title) == title
                for name in names:
                    assert title in {candidate.title for candidate in kb.candidates(name)}
            for alias in ("HB", "xyz"):
                assert {c.title for c in kb.candidates(alias)} == {
                    t for t, names in self.model.items() if alias in names
                }


FOLDER: list[Path] = []


def test_any_changes_in_any_order(tmp_path):
    FOLDER[:] = [tiny_folder(tmp_path)]
    run_state_machine_as_test(AnyChanges, settings=settings(max_examples=15, stateful_step_count=12, deadline=None))
