from __future__ import annotations

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from parlink.cli.kb import app
from parlink.errors import KnowledgeBaseError
from parlink.kb import KnowledgeBase
from tiny_kb import LINES, tiny_folder, write_lines


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def folder(tmp_path):
    return tiny_folder(tmp_path, name="towns", url_template="https://example.org/{title}")


def test_build_tells_what_it_made(tmp_path):
    source = write_lines(tmp_path / "a.jsonl", [*LINES, {"title": "Kent", "id": "Q7"}, {"title": "Kent", "id": "Q8"}])
    (tmp_path / "ids.json").write_text('{"Zürich": "Q72"}')
    result = run("build", source, "-o", tmp_path / "out", "--ids", tmp_path / "ids.json", "--name", "towns")
    assert result.exit_code == 0
    assert "titles 13, " in result.stdout
    assert "source a.jsonl: jsonl, sha256 " in result.stdout
    assert "names made unique: 1" in result.stdout
    assert "made unique: Kent (Q8) has the id Q8" in result.stderr
    kb = KnowledgeBase.open(tmp_path / "out")
    assert kb.name.startswith("towns-")
    assert kb.entity("Zürich").id == "Q72"


def test_build_refuses_a_folder_that_is_there(tmp_path, folder):
    source = write_lines(tmp_path / "a.jsonl", LINES[:2])
    with pytest.raises(KnowledgeBaseError, match="there already"):
        run("build", source, "-o", folder)
    assert run("build", source, "-o", folder, "--replace").exit_code == 0
    assert len(KnowledgeBase.open(folder)) == 2


def test_info_shows_sources_hashes_date_and_counts(folder):
    shown = run("info", folder).stdout
    assert "12 titles now" in shown
    assert "sha256" in shown
    assert "made 20" in shown
    parsed = json.loads(run("info", folder, "--json").stdout)
    assert parsed["titles"] == parsed["titles_now"] == 12
    assert parsed["sources"][0]["path"] == "kb.jsonl"
    assert parsed["kb"] == KnowledgeBase.open(folder).name


def test_lookup_prints_candidates(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    run("add", folder, "Hansa", "--type", "organization", "--description", "[league] of towns", "--alias", "HSV")
    shown = run("lookup", folder, "HSV").stdout.splitlines()
    assert shown[0].split() == ["prior", "match", "type", "popularity", "title", "type", "id", "description"]
    assert shown[1].split() == ["0.6667", "exact", "16", "Hamburger", "SV", "Q51974"]
    assert shown[3].split() == ["0.1111", "exact", "2", "Hansa", "organization", "[league]", "of", "towns"]
    first, _, last = (json.loads(line) for line in run("lookup", folder, "HSV", "--json").stdout.splitlines())
    assert first == {
        "title": "Hamburger SV",
        "id": "Q51974",
        "prior": pytest.approx(6 / 9),
        "match_type": "exact",
        "popularity": 16,
        "url": "https://example.org/Hamburger_SV",
    }
    assert (last["type"], last["description"]) == ("organization", "[league] of towns")
    assert len(run("lookup", folder, "HSV", "--json", "--limit", 1).stdout.splitlines()) == 1
    monkeypatch.setenv("COLUMNS", "50")  # where how well known they are has no room
    assert "popularity" not in run("lookup", folder, "HSV").stdout
    nothing = run("lookup", folder, "Bremen")
    assert nothing.stdout == ""
    assert "no candidates" in nothing.stderr


def test_lookup_prints_how_well_known_entities_are(tmp_path, monkeypatch):
    links = ["Kent (band)", "Kent"]
    folder = tiny_folder(tmp_path, [*LINES, {"title": "Sweden", "links": links}, {"title": "Rock", "links": links[:1]}])
    monkeypatch.setenv("COLUMNS", "120")
    shown = run("lookup", folder, "Kent").stdout.splitlines()
    assert shown[0].split()[:6] == ["prior", "match", "type", "popularity", "pages", "title"]
    assert [line.split()[2:4] for line in shown[1:]] == [["30", "1"], ["11", "0"], ["5", "2"]]
    monkeypatch.setenv("COLUMNS", "80")
    assert " pages " not in run("lookup", folder, "Kent").stdout
    band = [json.loads(line) for line in run("lookup", folder, "Kent", "--json").stdout.splitlines()][-1]
    assert (band["title"], band["popularity"], band["pages"]) == ("Kent (band)", 5, 2)


def test_check_tells_what_may_be_wrong(tmp_path):
    lines = [*LINES, {"title": "<KENT>"}, {"title": "The Zürich"}]
    folder = tiny_folder(tmp_path, lines)
    result = run("check", folder, "--report", tmp_path / "report.html")
    assert "every file is whole, 14 titles" in result.stdout
    page = (tmp_path / "report.html").read_text()
    assert "&lt;KENT&gt; / Kent" in page
    assert "The Zürich / Zürich" in page
    parsed = json.loads(run("check", folder, "--json").stdout)
    assert parsed["titles that differ only in a leading The"]["count"] == 1
    assert parsed["titles without a description"]["count"] == 11
    file = folder / "arrays.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.unlink()
    file.write_bytes(content)
    with pytest.raises(KnowledgeBaseError, match="damaged"):
        run("check", folder)


def test_diff_and_merge(tmp_path, folder):
    other = tiny_folder(tmp_path / "other", [*LINES[1:], {"title": "Ulm", "description": "city"}])
    run("rename", other, "Zürich", "Zürich (city)")
    shown = run("diff", folder, other).stdout
    assert "added: 1\n  Ulm" in shown
    assert "removed: 1\n  Hamburg" in shown
    assert "renamed: 1\n  Zürich -> Zürich (city)" in shown
    assert json.loads(run("diff", folder, other, "--json").stdout)["added"] == ["Ulm"]
    result = run("merge", folder, other, "-o", tmp_path / "both", "--name", "both")
    assert "13 titles" in result.stdout
    merged = KnowledgeBase.open(tmp_path / "both")
    assert merged.name.startswith("both-")
    assert {"Hamburg", "Ulm", "Zürich"} <= set(merged.titles())
    assert merged.resolve("Zürich (city)") == "Zürich"
    with pytest.raises(KnowledgeBaseError, match="there already"):
        run("merge", folder, other, "-o", tmp_path / "both")


def test_changes_from_the_command_line(tmp_path, folder):
    run("add", folder, "Bremen", "--id", "Q24879", "--alias", "HB", "--alias", "Bremen city", "--count", 3)
    run("rename", folder, "Kent", "Kent (county)")
    run("remove", folder, "C#")
    run("alias", folder, "Hansestadt", "Bremen", "--count", 2)
    run("alias", folder, "HB", "Bremen", "--remove")
    kb = KnowledgeBase.open(folder)
    assert kb.entity("Bremen").id == "Q24879"
    assert [c.title for c in kb.candidates("hansestadt")] == ["Bremen"]
    assert kb.candidates("HB") == []
    assert kb.resolve("Kent") == "Kent (county)"
    assert "C#" not in kb
    run("add", folder, "Ulm", "--overlay", tmp_path / "mine.json")
    assert "Ulm" not in kb
    assert "13 titles now" in run("info", folder, "--overlay", tmp_path / "mine.json").stdout


def test_a_name_that_hardly_ever_means_what_was_added_is_told_of(tmp_path):
    folder = tiny_folder(tmp_path, [{"title": "Kent", "count": 5000}])
    told = run("add", folder, "Kent (ship)", "--alias", "Kent", "--alias", "MV Kent")
    assert told.stderr == "'Kent' means 'Kent' and others far more often: give a higher --count\n"
    assert run("alias", folder, "Kent", "Kent (ship)", "--count", 1).stderr == told.stderr
    assert run("alias", folder, "Kent", "Kent (ship)", "--count", 100).stderr == ""
    assert [c.title for c in KnowledgeBase.open(folder).candidates("Kent")] == ["Kent", "Kent (ship)"]


def test_help_is_fast_because_nothing_heavy_is_imported():
    code = (
        "import sys; import parlink.cli.kb; print([m for m in ('torch', 'numpy', 'marisa_trie') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
    code = "import sys; import parlink.kb, parlink.kb.build.build; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
