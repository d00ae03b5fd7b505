from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path

import pytest
from rich.console import Console

from parlink.checkpoint.folder import save_checkpoint
from parlink.cli.main import run
from parlink.cli.show import show
from parlink.types import Candidate, Document, Link, Span
from tiny_model import tiny_checkpoint

TEXT = "Hamburg beat Dresden 😀 on Saturday."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("link")
    save_checkpoint(path / "model", tiny_checkpoint(seed=3, spread=2.0), card="")
    (path / "surfaces.json").write_text(json.dumps({"Hamburg": ["Hamburg", "Hamburg (film)"]}))
    return path


class Parlink:
    """The command, run in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cwd: Path) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys
        monkeypatch.chdir(cwd)

    def __call__(self, *arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        self.monkeypatch.setattr(sys, "argv", ["parlink", *arguments])
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as left:
            run()
        return (int(left.value.code or 0), *self.capsys.readouterr())


@pytest.fixture
def parlink(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path) -> Parlink:
    return Parlink(monkeypatch, capsys, folder)


def test_piped_output_is_json_and_the_page_is_written(folder: Path) -> None:
    options = ("--model", "model", "--surfaces", "surfaces.json", "--mention-threshold", "-30", "--html", "page.html")
    command = [sys.executable, "-m", "parlink", "link", "-", *options]
    done = subprocess.run(command, cwd=folder, input=TEXT.encode(), capture_output=True, timeout=120, check=True)
    doc = json.loads(done.stdout)
    assert doc["text"] == TEXT
    assert doc["links"]
    assert "<!doctype html>" in (folder / "page.html").read_text()


def test_an_answer_without_a_mention_has_links_too(parlink: Parlink) -> None:
    code, printed, _ = parlink("link", "", "--model", "model", "--surfaces", "surfaces.json", "--json")
    assert code == 0
    assert json.loads(printed)["links"] == []


def test_a_file_is_not_taken_for_a_text(parlink: Parlink, folder: Path) -> None:
    (folder / "notes.txt").write_text(TEXT)
    code, printed, shown = parlink("link", "notes.txt", "--model", "model")
    assert (code, printed) == (1, "")
    assert shown.startswith("error: notes.txt: is a file")
    assert "parlink link < notes.txt" in shown and "parlink annotate notes.txt" in shown


def test_a_text_without_quotes_is_told_to_want_them(parlink: Parlink, folder: Path) -> None:
    code, printed, shown = parlink("link", "Kent's", "is", "nice", "--model", "model")
    assert (code, printed) == (1, "")
    assert "got 3 arguments" in shown and """put quotes around it: 'Kent'"'"'s is nice'""" in shown
    (folder / "other.txt").write_text(TEXT)
    assert "other.txt: is a file" in parlink("link", "-", "other.txt", "--model", "model")[2]


def test_the_name_of_no_file_is_a_text_and_says_so(parlink: Parlink) -> None:
    options = ("--model", "model", "--surfaces", "surfaces.json")
    code, printed, shown = parlink("link", "Hamburg.txt", *options)
    assert (code, json.loads(printed)["text"]) == (0, "Hamburg.txt")
    assert shown == "Hamburg.txt: there is no such file; it is linked as a text\n"
    assert parlink("link", "Hamburg won.", *options)[2] == ""


@pytest.mark.parametrize("text", ["Кент " * 40, "x" * 254 + "’", "Kent" + "/x" * 3000])
def test_a_text_that_no_file_can_be_called_is_linked(parlink: Parlink, text: str) -> None:
    code, printed, _ = parlink("link", text, "--model", "model", "--surfaces", "surfaces.json")
    assert (code, json.loads(printed)["text"]) == (0, text)


def test_the_version(parlink: Parlink) -> None:
    assert parlink("--version")[1] == f"parlink {version('parlink')}\n"


def test_fewer_candidates(parlink: Parlink, folder: Path) -> None:
    options = ("link", TEXT, "--model", "model", "--mention-threshold", "-30", "--surfaces")
    found = json.loads(parlink(*options, "surfaces.json")[1])["links"]
    titles = {TEXT[link["start"] : link["end"]]: ["Hamburg", "Dresden", "Jordan"] for link in found}
    (folder / "all.json").write_text(json.dumps(titles))
    for wanted in (1, 2, 3):
        doc = json.loads(parlink(*options, "all.json", "--max-candidates", str(wanted))[1])
        assert {len(link["candidates"]) for link in doc["links"]} == {wanted}


def test_no_bar_is_shown_where_there_is_no_terminal(parlink: Parlink) -> None:
    options = ("-", "--model", "model", "--surfaces", "surfaces.json", "--mention-threshold", "30")
    assert parlink("link", *options, stdin=TEXT.encode() * 400)[::2] == (0, "")


def test_that_the_model_is_opened_is_shown_if_it_takes_long(parlink: Parlink, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = list[str]()
    monkeypatch.setattr("parlink.bars.LateBars.add_task", lambda _bar, what, **_total: shown.append(what))
    monkeypatch.setattr("parlink.bars.LateBars.update", lambda *_task, **_done: None)
    assert parlink("link", TEXT, "--model", "model", "--surfaces", "surfaces.json")[0] == 0
    assert shown == ["opening the model", f"linking {len(TEXT)} characters"]


@pytest.mark.parametrize("kind", ["json", "table", "html", "conll"])
def test_the_answer_is_printed_in_the_format_asked_for(parlink: Parlink, folder: Path, kind: str) -> None:
    options = ("--model", "model", "--surfaces", "surfaces.json", "--mention-threshold", "-30", "--fallback")
    code, printed, _ = parlink("link", TEXT, *options[:-1], "--format", kind)
    assert code == 0
    starts = {"json": '{"text":"Hamburg', "table": TEXT, "html": "<!doctype html>", "conll": "-DOCSTART- ()\n"}
    assert printed.lstrip().startswith(starts[kind])
    assert "Hamburg" in printed


def test_json_fits_on_a_screen(parlink: Parlink, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("--model", "model", "--surfaces", "surfaces.json", "--mention-threshold", "-30")
    piped = parlink("link", TEXT, *options)[1]
    assert len(piped.splitlines()) == 1 and len(piped) < 2000
    monkeypatch.setattr("parlink.cli.link_output.sys.stdout.isatty", lambda: True)
    shown = parlink("link", TEXT, *options, "--json")[1]
    links = json.loads(piped)["links"]
    assert len(shown.splitlines()) == 1 + sum(1 + len(link.get("candidates", [])) for link in links)
    assert max(map(len, shown.splitlines()[1:])) < 160
    for link, whole in zip(json.loads(shown)["links"], links, strict=True):
        candidates = link.pop("candidates")
        assert link.items() <= whole.items() and link.keys() >= {"start", "end", "title"}
        for candidate, all_of_it in zip(candidates, whole.get("candidates", []), strict=True):
            assert candidate.items() <= all_of_it.items() and candidate.keys() >= {"title", "score"}


def test_a_device_that_is_not_here_is_one_line(parlink: Parlink) -> None:
    code, printed, shown = parlink("link", TEXT, "--model", "model", "--device", "abacus")
    assert (code, printed) == (1, "")
    assert shown.startswith("error: device 'abacus' cannot be used") and "available here: cpu" in shown


@pytest.mark.parametrize("words", [[], ["kb"], ["data"]])
def test_what_a_command_does_is_said_in_a_line(parlink: Parlink, words: list[str]) -> None:
    commands = parlink(*words, "-h")[1].partition("Commands:")[2].splitlines()
    assert commands and not [line for line in commands if line.endswith("...")]


def test_h_is_help_everywhere(parlink: Parlink) -> None:
    for words in ([], ["link"], ["kb", "build"]):
        assert parlink(*words, "-h") == parlink(*words, "--help")


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (("link", "x", "--model", "nowhere"), b"", "nowhere: no such model folder"),
        (("link", "x", "--model", "model", "--surfaces", "model/config.json"), b"", "config.json"),
        (("link", "-", "--model", "model"), b"\xff\xfe", "not UTF-8"),
        (("link", "x", "--model", "model", "--kb", "nowhere"), b"", "nowhere"),
        (("train", "nowhere.toml"), b"", "nowhere.toml: cannot be read"),
    ],
)
def test_bad_input_is_one_clear_line(parlink: Parlink, arguments: tuple[str, ...], stdin: bytes, message: str) -> None:
    code, out, err = parlink(*arguments, stdin=stdin)
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    assert line.startswith("error: ")
    assert message in line


def test_a_misspelled_key_is_named(parlink: Parlink) -> None:
    Path("bad.toml").write_text('output = "x"\nencoder = "y"\nnegativs = 3\n')
    code, _, err = parlink("train", "bad.toml")
    assert code == 1
    assert "negativs" in err


def test_python_m_calls_itself_parlink_and_completes() -> None:
    asked = {"COMP_WORDS": "parlink ann", "COMP_CWORD": "1", "_PARLINK_COMPLETE": "complete_bash"}
    run = partial(subprocess.run, capture_output=True, text=True, check=False, timeout=60)
    assert run([sys.executable, "-m", "parlink", "--help"]).stdout.split()[:2] == ["Usage:", "parlink"]
    assert run([sys.executable, "-m", "parlink"], env=os.environ | asked).stdout.split() == ["annotate"]


def test_help_answers_without_loading_torch() -> None:
    code = "import sys, parlink.cli.main; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_a_terminal_shows_links_in_place_and_no_control_characters() -> None:
    link = Link(Span(0, 7), title="Hamburg", confidence=0.5, candidates=(Candidate("Hamburg"),))
    nil = Link(Span(13, 20), reason="no_candidate")
    stream = io.StringIO()
    show(Document("Hamburg beat Dresden\x1b[2J.", links=(link, nil)), console=Console(file=stream, width=80))
    assert [line.rstrip() for line in stream.getvalue().splitlines()] == [
        "Hamburg beat Dresden\N{REPLACEMENT CHARACTER}[2J.",
        "",
        "mention  entity               confidence",
        "Hamburg  Hamburg              ━━─── 0.50",
        "Dresden  none (no_candidate)",
    ]


def test_a_terminal_shows_type_and_description_where_they_are_known() -> None:
    facts = {"type": "place", "description": "city in the north of Germany, on the Elbe, with a harbor\x1b[2J"}
    link = Link(Span(0, 7), title="Ham\x1bburg", confidence=0.875, **facts)
    stream = io.StringIO()
    show(Document("Hamburg won.", links=(link,)), console=Console(file=stream, width=110))
    assert "\x1b" not in stream.getvalue()
    header, row = stream.getvalue().splitlines()[-2:]
    assert header.split() == ["mention", "entity", "type", "description", "confidence"]
    assert row.startswith("Hamburg  Ham burg  place  city in the north of Germany, on the")
    assert row.rstrip().endswith("━━━━━━━━━─ 0.88")
    narrow = io.StringIO()
    show(Document("Hamburg won.", links=(link,)), console=Console(file=narrow, width=60))
    row = narrow.getvalue().splitlines()[-1]
    assert "city in" in row and "…" in row and row.endswith("━━━━─ 0.88")


@pytest.mark.parametrize("width", [30, 40, 59])
def test_a_narrow_terminal_shows_the_names_and_the_confidence(width: int) -> None:
    title = "Municipality of the Free and Hanseatic City of Hamburg"
    link = Link(Span(0, 24), title=title, confidence=0.875, type="place", description="city in Germany")
    stream = io.StringIO()
    show(Document("The great port of Hamburg won.", links=(link,)), console=Console(file=stream, width=width))
    header, row = stream.getvalue().splitlines()[-2:]
    assert header.split() == ["mention", "entity", "confidence"]
    assert row.rstrip().endswith("━━━━─ 0.88") and row.count("…") == 2 and len(row) <= width


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_a_long_name_leaves_the_other_columns_their_room(width: int) -> None:
    title = "United Nations Framework Convention on Climate Change and Related Matters"
    link = Link(Span(0, len(title)), title=title, confidence=0.875, type="place", description="city in Germany")
    stream = io.StringIO()
    show(Document(title, links=(link,)), console=Console(file=stream, width=width))
    header, row = (line.rstrip() for line in stream.getvalue().splitlines()[-2:])
    assert header.split() == ["mention", "entity", "type", "description", "confidence"]
    assert " place " in row and " city in" in row and row.endswith(" 0.88") and len(row) <= width


def test_a_terminal_without_unicode_gets_a_plain_bar() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    link = Link(Span(0, 7), title="Hamburg", confidence=0.5)
    show(Document("Hamburg won.", links=(link,)), console=Console(file=stream, width=80))
    stream.seek(0)
    assert "##--- 0.50" in stream.read()
