from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from filelock import FileLock
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
from parlink.kb import KnowledgeBase, overlay, overlay_path
from parlink.kb.overlay import Alias, Overlay
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


def test_who_finds_it_locked_for_too_long_is_told(kb):
    path = overlay_path(kb.folder)
    with FileLock(f"{path}.lock"), pytest.raises(KnowledgeBaseError, match="another process"):
        overlay.change(path, lambda now: now, seconds=0.05)
    assert overlay.change(path, lambda now: now.add_alias(Alias("HB", "Kent"))).aliases


FILLS_THE_DISK = """
import resource, sys
from parlink.errors import KnowledgeBaseError
from parlink.kb import KnowledgeBase
from parlink.types import Entity
kb = KnowledgeBase.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    kb.add(Entity("Bremen", description="x" * 2000))
except KnowledgeBaseError as error:
    print(error)
print(len(kb), "Hannover" in kb)
"""


def test_a_change_that_cannot_be_written_is_not_made(kb):
    kb.add(Entity("Hannover"))
    before = overlay_path(kb.folder).read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", FILLS_THE_DISK, str(kb.folder)], capture_output=True, text=True, check=True
    )
    assert "cannot be saved" in done.stdout
    assert done.stdout.endswith(f"{len(LINES) + 1} True\n")
    assert overlay_path(kb.folder).read_bytes() == before
    assert not list(kb.folder.parent.glob(".*.tmp"))


def test_a_folder_that_cannot_hold_changes_says_what_to_do(tmp_path):
    kb = KnowledgeBase.open(tiny_folder(tmp_path), overlay=tmp_path / "kb.jsonl" / "x.json")
    with pytest.raises(KnowledgeBaseError, match="give another overlay file"):
        kb.add(Entity("Bremen"))


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "not a file of changes"), ("[]", "not a file of changes"), ('{"format": 99, "new": 1}', "newer parlink")],
)
def test_a_broken_file_of_changes_is_an_error(kb, content, message):
    path = overlay_path(kb.folder)
    path.write_text(content)
    with pytest.raises(KnowledgeBaseError, match=message):
        kb.candidates("Kent")
    with pytest.raises(KnowledgeBaseError, match=message):
        KnowledgeBase.open(kb.folder)
    path.unlink()
    assert found(kb, "Kent")


def test_the_file_is_plain_json(kb):
    kb.add(Entity("Bremen"), aliases=["HB"])
    assert json.loads(overlay_path(kb.folder).read_text()) == {
        "added": {"Bremen": {}},
        "aliases": [{"surface": "HB", "title": "Bremen", "count": 1}],
    }
    assert overlay.load(Path("nowhere.json")) == Overlay()


TITLES = ["Kent", "Hamburg", "Bremen", "Ulm", "Kent (band)"]


class Changes(RuleBasedStateMachine):
    """Any changes in any order leave what a plain dictionary of entity to title and aliases would hold."""

    entities = Bundle("entities")

    @initialize(target=entities)
    def opened(self):
        self.model: dict[str, set[str]] = {line["title"]: {line["title"]} for line in LINES}
        overlay_path(FOLDER[0]).unlink(missing_ok=True)
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
    run_state_machine_as_test(Changes, settings=settings(max_examples=15, stateful_step_count=12, deadline=None))
